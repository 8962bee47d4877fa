internal import Grandstand
internal import GrandstandContract

/// Who asks for an operation, whichever door the request came through.
struct Caller: Sendable {
    let key: APIKey

    /// The apps that the key reaches.
    var reach: AppReach { key.reach }
    /// The name of the key in the audit log.
    var actor: AuditActor { AuditActor(key) }

    /// - Throws: `forbidden`.
    func requireCover(of bundleID: BundleID) throws(Problem) {
        guard reach.covers(bundleID) else { throw reach.refusal }
    }

    /// - Parameter other: the apps of what is asked for.
    /// - Throws: `forbidden`.
    func requireCover(of other: AppReach) throws(Problem) {
        guard reach.covers(other) else { throw reach.refusal }
    }
}

extension APIContext {
    /// The caller of a route that needs a key: the gate lets in no request without one.
    var caller: Caller {
        get throws(Problem) {
            guard let key else { throw Problem(.unauthenticated, "This operation needs a key.") }
            return Caller(key: key)
        }
    }
}

extension Visit {
    /// The caller of an operation behind a page.
    ///
    /// - Throws: `forbidden` where the key does not hold the operation's scope.
    func caller(of operation: Contract.Operation) throws(Problem) -> Caller {
        try Gate.check(key, for: Route.Access(to: operation))
        return Caller(key: key)
    }
}
