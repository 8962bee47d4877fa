internal import Grandstand
internal import GrandstandContract

/// The caller of an operation, from the API or from the console.
struct Caller: Reaching, Sendable {
    let key: APIKey

    /// The apps that the key may access.
    var reach: AppReach { key.reach }
    /// The key as actor in the audit log.
    var actor: AuditActor { AuditActor(key) }
}

extension APIContext {
    /// The caller of a route that needs a key. `RequestAuthenticator` rejects requests without a key.
    var caller: Caller {
        get throws(Problem) {
            guard let key else { throw Problem(.unauthenticated, "This operation needs a key.") }
            return Caller(key: key)
        }
    }
}

extension Visit {
    /// The caller of an operation that a console page performs.
    ///
    /// - Throws: `forbidden` if the key does not have the operation's scope.
    func caller(of operation: Contract.Operation) throws(Problem) -> Caller {
        try RequestAuthenticator.check(key, for: operation.scopes)
        return Caller(key: key)
    }
}
