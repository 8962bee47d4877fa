internal import Mustache

/// The parsed templates of the pages.
struct ConsoleTemplates: Sendable {
    /// The texts by name. Each is a file `NAME.mustache`, compiled into the binary.
    static let texts = EmbeddedFiles.texts.reduce(into: [String: String]()) { texts, file in
        if file.key.hasSuffix(".mustache") { texts[String(file.key.dropLast(9))] = file.value }
    }

    private let library: MustacheLibrary

    /// Parses all templates, so that a mistake shows when the server starts and not when somebody opens a page.
    init() throws {
        MustacheContentTypes.register(HTMLText(), named: HTMLText.name)
        // Each template sets its content type, because a partial does not inherit it.
        let type = "{{% CONTENT_TYPE: \(HTMLText.name)}}"
        library = MustacheLibrary(templates: try Self.texts.mapValues { try MustacheTemplate(string: type + $0) })
    }

    /// A whole page.
    func html(_ page: any ConsolePage, _ frame: Frame) -> String {
        // Never `nil`: a test renders all pages.
        library.render(Sheet(frame: frame, page: page), withTemplate: page.template) ?? ""
    }
}

/// The data of a template: `frame` for the parts that all pages share, `page` for the rest.
struct Sheet {
    let frame: Frame
    let page: any ConsolePage
}
