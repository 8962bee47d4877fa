internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import HTTPTypes
internal import Hummingbird
internal import NIOCore

/// `/console`: pages for people, on the API's port. They perform the API's operations with the key that is signed in.
/// Requests for pages count against the rate limit of this key, like requests to the API.
struct Console: Sendable {
    /// The path of all pages.
    static let path = "/console"

    let templates: ConsoleTemplates
    /// More pages and forms, for tests.
    var others: [PageRoute] = []
}

extension API {
    /// All pages, and the actions of their forms.
    func pages(of console: Console) -> [PageRoute] {
        overviewPages + eventPages + composerPages
            + Resource.all.flatMap { ResourcePages(resource: $0).routes } + console.others
    }

    /// Adds the console to a router that has the API's routes.
    func add(_ console: Console, _ responder: PageResponder, to router: Router<APIContext>) {
        responder.addSignIn(to: router)
        // These files need no session, because the sign-in page uses them.
        for (path, type, file) in [
            (ConsolePath.style, "text/css; charset=utf-8", "style.css"),
            (ConsolePath.script, "text/javascript; charset=utf-8", "console.js"),
        ] {
            let text = ByteBuffer(string: EmbeddedFiles.texts[file] ?? "")
            router.get(RouterPath(path)) { _, _ in
                Response(
                    status: .ok, headers: [.contentType: type, .cacheControl: "public, max-age=300"],
                    body: ResponseBody(byteBuffer: text))
            }
        }
        for page in pages(of: console) {
            router.on(RouterPath(page.path), method: page.form == nil ? .get : .post) { request, context in
                await responder.respond(page, request, context)
            }
        }
    }
}

/// The paths of all pages. No other code writes these paths.
enum ConsolePath {
    static let overview = Console.path
    static let events = Console.path + "/events"
    static let apps = Console.path + "/apps"
    static let keys = Console.path + "/keys"
    static let webhooks = Console.path + "/webhooks"
    static let auditLog = Console.path + "/audit-log"
    static let signIn = Console.path + "/sign-in"
    static let signOut = Console.path + "/sign-out"
    static let style = Console.path + "/style.css"
    static let script = Console.path + "/console.js"

    static func event(_ key: EventKey) -> String { events + "/" + PercentEncoding.encode(key.rawValue) }

    static func app(_ bundleID: BundleID) -> String { app(bundleID.rawValue) }

    static func app(_ bundleID: String) -> String { apps + "/" + PercentEncoding.encode(bundleID) }

    static func channels(_ app: AppEnvironment) -> String { environment(app) + "/channels" }

    static func reconciliations(_ app: AppEnvironment) -> String { environment(app) + "/reconciliations" }

    private static func environment(_ app: AppEnvironment) -> String {
        self.app(app.bundleID) + "/" + app.environment.rawValue
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
    static func returning(to target: String?) -> String {
        guard let target, target.hasPrefix(Console.path),
            target.utf8.allSatisfy({ (0x21...0x7E).contains($0) && $0 != UInt8(ascii: "\\") }),
            target.utf8.count <= 2_048, !target.hasPrefix(signIn), !target.hasPrefix(signOut)
        else { return overview }
        let rest = target.dropFirst(Console.path.count)
        return rest.isEmpty || rest.hasPrefix("/") || rest.hasPrefix("?") ? target : overview
    }
}

// The paths for organisers.
extension ConsolePath {
    /// The path of an action on an event. The action is `preview`, `send`, `cancel`, `reopen`, `start`, `stop` or
    /// `move`.
    static func event(_ key: EventKey, _ verb: String) -> String { event(key) + "/" + verb }

    /// The page of the event, with a prefilled form for the next message.
    ///
    /// - Parameters:
    ///   - broadcast: the message whose values fill the form; `nil`: the newest message.
    ///   - message: `update` or `end`.
    static func composer(_ key: EventKey, from broadcast: UUID? = nil, _ message: String? = nil) -> String {
        link(event(key), [("from", broadcast?.uuidString.lowercased()), ("event", message)]) + "#compose"
    }

    static func withdrawal(of broadcast: UUID, _ key: EventKey) -> String {
        event(key, "broadcasts/\(broadcast.uuidString.lowercased())/withdraw")
    }
}
