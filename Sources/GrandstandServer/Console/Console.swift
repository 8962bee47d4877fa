internal import APNsWire
internal import Grandstand
internal import Mustache

/// `/console`: pages for people, on the API's port. They perform the API's operations with the key that is signed in.
/// Requests for pages count against the rate limit of this key, like requests to the API. This value has the parsed
/// templates of the pages.
struct Console: Sendable {
    /// The path of all pages.
    static let path = "/console"

    /// The texts of the templates by name. Each is a file `NAME.mustache`, compiled into the binary.
    static let sources = EmbeddedFiles.texts.reduce(into: [String: String]()) { texts, file in
        if file.key.hasSuffix(".mustache") { texts[String(file.key.dropLast(9))] = file.value }
    }

    private let library: MustacheLibrary
    /// More pages and forms, for tests.
    var testPages: [PageRoute] = []

    /// Parses all templates, so that a mistake shows when the server starts and not when somebody opens a page.
    init() throws {
        MustacheContentTypes.register(HTMLText(), named: HTMLText.name)
        // Each template sets its content type, because a partial does not inherit it.
        let type = "{{% CONTENT_TYPE: \(HTMLText.name)}}"
        library = MustacheLibrary(templates: try Self.sources.mapValues { try MustacheTemplate(string: type + $0) })
    }

    /// A whole page.
    func html(_ frame: Frame) -> String {
        // Never `nil`: a test renders all pages.
        library.render(frame, withTemplate: frame.page.template) ?? ""
    }
}

extension API {
    /// All pages, and the actions of their forms.
    var pages: [PageRoute] {
        overviewPages + eventPages + composerPages + Resource.all.flatMap(\.routes) + (console?.testPages ?? [])
    }
}

/// The paths of pages.
enum ConsolePath {
    static let overview = Console.path
    static let events = Console.path + "/events"
    static let signIn = Console.path + "/sign-in"
    static let signOut = Console.path + "/sign-out"

    static func event(_ key: EventKey) -> String { events + "/" + PercentEncoding.encode(key.rawValue) }

    static func channels(_ app: AppEnvironment) -> String {
        "\(Console.path)/apps/\(PercentEncoding.encode(app.bundleID.rawValue))/\(app.environment.rawValue)/channels"
    }

    /// `path` with the query parameters that are not `nil`.
    static func link(_ path: String, _ query: [(name: String, value: String?)]) -> String {
        let pairs = query.compactMap { pair in pair.value.map { "\(pair.name)=\(PercentEncoding.encode($0))" } }
        return pairs.isEmpty ? path : path + "?" + pairs.joined(separator: "&")
    }

    /// The sign-in page, which returns to `target`.
    static func signIn(returningTo target: String) -> String {
        link(signIn, [("next", target == overview ? nil : target)])
    }

    /// The page that is shown after signing in. This is always a page of the console, even if the link's `next` is
    /// another address.
    static func safeReturn(to target: String?) -> String {
        guard let target, target.hasPrefix(Console.path),
            target.utf8.allSatisfy({ (0x21...0x7E).contains($0) && $0 != UInt8(ascii: "\\") }),
            target.utf8.count <= 2_048, !target.hasPrefix(signIn), !target.hasPrefix(signOut)
        else { return overview }
        let rest = target.dropFirst(Console.path.count)
        return rest.isEmpty || rest.hasPrefix("/") || rest.hasPrefix("?") ? target : overview
    }

    /// The path of an action on an event. The action is `preview`, `send`, `cancel`, `reopen`, `start`, `stop` or
    /// `move`.
    static func event(_ key: EventKey, _ verb: String) -> String { event(key) + "/" + verb }

    /// The page of the event, with a prefilled form for the next message.
    ///
    /// - Parameters:
    ///   - id: the message whose values fill the form; `nil`: the newest message.
    ///   - message: `update` or `end`.
    static func composer(_ key: EventKey, from id: String? = nil, _ message: String? = nil) -> String {
        link(event(key), [("from", id), ("event", message)]) + "#compose"
    }
}
