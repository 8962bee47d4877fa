internal import APNsWire
internal import FoundationEssentials
internal import Grandstand

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
