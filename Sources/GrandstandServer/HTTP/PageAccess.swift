internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract

/// The functions of the API that pages may use for one request: authenticate a secret, count the request, and perform a
/// form's work once.
struct PageAccess: Sendable {
    let authenticator: RequestAuthenticator
    let idempotency: Idempotency
    let context: APIContext

    /// The key with this secret.
    ///
    /// - Throws: `unauthenticated`, which counts as a failure of the caller's address; `rate-limited`.
    func identify(_ secret: String) async throws -> APIKey {
        let key = try await authenticator.identify(secret, context, for: .anyKey)
        authenticator.uses.used(key.id, at: authenticator.now())
        return key
    }

    /// Counts a request in a session of `key`.
    ///
    /// - Throws: `rate-limited`.
    func countRequest(of key: APIKey) throws(Problem) {
        authenticator.uses.used(try authenticator.resume(key, context, for: .anyKey).id, at: authenticator.now())
    }

    /// Counts a wrong secret against the caller's address. Returns a problem with `detail`, or `rate-limited` after too
    /// many failures.
    func refusal(_ detail: String) -> Problem { authenticator.refusal(detail, context, authenticator.now()) }

    /// Performs a form's work once, and stores its answer.
    ///
    /// - Parameters:
    ///   - name: distinguishes the work from all other work of this key.
    ///   - recover: given for work in several steps. It returns the answer for an object that an earlier call began to
    ///     make. If it returns `nil`, the work is done again.
    /// - Throws: the errors of `work`, which are not stored.
    func once(
        _ name: String, of key: UUID, _ operation: Contract.Operation, recover: FormRecovery? = nil,
        _ work: @escaping @Sendable () async throws -> [UInt8]
    ) async throws -> [UInt8] {
        let wanted = IdempotentRequest(
            caller: key, key: name, content: Array(name.utf8), shownOnce: operation.shownOnce)
        guard let recover else {
            return try await idempotency.store.once(wanted, now: idempotency.now()) {
                KeptAnswer(status: 200, body: try await work())
            }.answer.body
        }
        return try await idempotency.inSteps(
            wanted, recover: { id in try await recover(id).map { KeptAnswer(status: 200, body: $0) } },
            work: { KeptAnswer(status: 200, body: try await work()) }
        ).answer.body
    }
}

/// Returns the answer for an object that an earlier form began to make; `nil`: the earlier form had no effect.
typealias FormRecovery = @Sendable (UUID) async throws -> [UInt8]?
