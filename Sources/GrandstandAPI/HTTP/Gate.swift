internal import Grandstand
internal import HTTPTypes
internal import Hummingbird

/// Lets a request in by its key and scope.
struct Gate: Sendable {
    let keys: any KeyStore

    /// - Returns: the key; `nil` on open routes.
    /// - Throws: `unauthenticated`, `forbidden`.
    func admit(_ request: Request, to route: Route) async throws -> APIKey? {
        guard route.access != .open else { return nil }
        guard let secret = Self.bearer(request.headers[.authorization]) else {
            throw Problem(.unauthenticated, "Send your key as Authorization: Bearer <secret>.")
        }
        guard let key = try await keys.authenticate(String(secret)) else {
            throw Problem(
                .unauthenticated, "This key is not known, or was revoked. `grandstand keys create` makes one.")
        }
        try Self.check(key, for: route.access)
        return key
    }

    /// The one check of scopes.
    ///
    /// - Throws: `forbidden`.
    static func check(_ key: APIKey, for access: Route.Access) throws(Problem) {
        guard case .scope(let scope) = access, !key.holds(scope) else { return }
        throw Problem(.forbidden, "The key \(key.name) does not hold the scope \(scope.rawValue).")
    }

    /// The token of `Bearer <token>` (RFC 6750); the scheme is told without regard to case.
    static func bearer(_ header: String?) -> Substring? {
        guard let parts = header?.split(separator: " ", maxSplits: 1), parts.count == 2,
            parts[0].lowercased() == "bearer", !parts[1].isEmpty
        else { return nil }
        return parts[1]
    }
}

extension APIContext {
    /// - Throws: `forbidden` when the request's key is for another app.
    func requireCover(of bundleID: BundleID) throws(Problem) {
        guard let key, !key.covers(bundleID) else { return }
        throw Problem(.forbidden, "The key \(key.name) is for \(key.bundleID?.rawValue ?? "another app") only.")
    }

    /// - Throws: `forbidden` when the request's key is bound to one app and this concerns all of them.
    func requireAllApps() throws(Problem) {
        guard let key, let bundleID = key.bundleID else { return }
        throw Problem(.forbidden, "The key \(key.name) is for \(bundleID) only.")
    }
}
