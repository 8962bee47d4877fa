internal import Mustache

/// The parsed templates of the pages.
struct ConsoleTemplates: Sendable {
    private let library: MustacheLibrary

    /// Parses all templates, so that a mistake shows when the server starts and not when somebody opens a page.
    ///
    /// - Throws: `TemplateFault`.
    init() throws {
        MustacheContentTypes.register(HTMLText(), named: HTMLText.name)
        var templates: [String: MustacheTemplate] = [:]
        for name in TemplateName.allCases {
            templates[name.rawValue] = try Self.template(name.rawValue, name.text)
        }
        library = MustacheLibrary(templates: templates)
    }

    /// Checks and parses one template.
    ///
    /// - Throws: `TemplateFault` if the template does not parse, names a missing partial (Mustache would silently leave
    ///   it out), or has an unescaped tag.
    static func template(_ name: String, _ text: String) throws -> MustacheTemplate {
        let tags = TemplateTags(text)
        if tags.hasUnescaped { throw TemplateFault(template: name, what: "lets text through unescaped") }
        for part in tags.parts where TemplateName(rawValue: part) == nil {
            throw TemplateFault(template: name, what: "has a part \(part) that is not there")
        }
        // Each template sets its content type, because a partial does not inherit it.
        let whole = "{{% CONTENT_TYPE: \(HTMLText.name)}}" + text
        do {
            return try MustacheTemplate(string: whole)
        } catch {
            throw TemplateFault(template: name, what: "does not parse: \(error)")
        }
    }

    /// A whole page.
    func html(_ page: any ConsolePage, _ frame: Frame) -> String {
        // Never `nil`: `init` has checked that every name has a template.
        library.render(Sheet(frame: frame, page: page), withTemplate: page.template.rawValue) ?? ""
    }
}

/// The data of a template: `frame` for the parts that all pages share, `page` for the rest.
struct Sheet {
    let frame: Frame
    let page: any ConsolePage
}

/// A template that cannot be used.
struct TemplateFault: Error, CustomStringConvertible {
    let template: String
    let what: String

    var description: String { "the console's template \(template) \(what)" }
}
