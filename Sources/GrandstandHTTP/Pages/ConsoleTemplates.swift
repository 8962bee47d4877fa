internal import Mustache

/// The pages' templates, parsed.
package struct ConsoleTemplates: Sendable {
    private let library: MustacheLibrary

    /// Parses all of them, so that a mistake shows when a server starts and not when somebody opens a page.
    ///
    /// - Throws: `TemplateFault`.
    package init() throws {
        MustacheContentTypes.register(HTMLText(), named: HTMLText.name)
        var templates: [String: MustacheTemplate] = [:]
        for name in TemplateName.allCases {
            templates[name.rawValue] = try Self.template(name.rawValue, name.text)
        }
        library = MustacheLibrary(templates: templates)
    }

    /// One template, checked.
    ///
    /// - Throws: `TemplateFault` for one that does not parse, names a part that is not there (Mustache would leave it out
    ///   in silence), or lets text through unescaped.
    static func template(_ name: String, _ text: String) throws -> MustacheTemplate {
        let tags = TemplateTags(text)
        if tags.hasUnescaped { throw TemplateFault(template: name, what: "lets text through unescaped") }
        for part in tags.parts where TemplateName(rawValue: part) == nil {
            throw TemplateFault(template: name, what: "has a part \(part) that is not there")
        }
        // Each template says how it escapes: a part does not take that over from what it is in.
        let whole = "{{% CONTENT_TYPE: \(HTMLText.name)}}" + text
        do {
            return try MustacheTemplate(string: whole)
        } catch {
            throw TemplateFault(template: name, what: "does not parse: \(error)")
        }
    }

    /// A whole page.
    func html(_ page: any ConsolePage, _ frame: Frame) -> String {
        // Every name is a template: `init` saw to that.
        library.render(Sheet(frame: frame, page: page), withTemplate: page.template.rawValue) ?? ""
    }
}

/// What a page's template is given: `frame` for what is around every page, `page` for the rest.
struct Sheet {
    let frame: Frame
    let page: any ConsolePage
}

/// A template that cannot be used.
package struct TemplateFault: Error, CustomStringConvertible {
    let template: String
    let what: String

    package var description: String { "the console's template \(template) \(what)" }
}
