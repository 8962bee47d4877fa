package import FoundationEssentials
package import Grandstand

/// What a page may do with one request: ask whose key a secret is, count it, and carry out a form's work once.
package struct PageDoor: Sendable {
    let gate: Gate
    let idempotency: Idempotency
    let context: APIContext

    /// Whose key `secret` is.
    ///
    /// - Throws: `unauthenticated`, counted for the address it came from; `rate-limited`.
    package func identify(_ secret: String) async throws -> APIKey {
        let key = try await gate.identify(secret, context, for: .anyKey)
        gate.uses.used(key.id, at: gate.now())
        return key
    }

    /// Counts a request in a session of `key`.
    ///
    /// - Throws: `rate-limited`.
    package func resume(_ key: APIKey) throws(Problem) {
        gate.uses.used(try gate.resume(key, context, for: .anyKey).id, at: gate.now())
    }

    /// Counts a wrong secret for the address it came from, and says `detail`, or when to come again.
    package func refusal(_ detail: String) -> Problem { gate.refusal(detail, context, gate.now()) }

    /// Carries out work of a form once, and keeps its answer.
    ///
    /// - Parameters:
    ///   - name: tells the work from all other work of this key.
    ///   - secret: the session's: what is kept cannot be read without it.
    ///   - recover: for work in several steps: the answer for a thing that was begun; `nil`: the work is done anew.
    /// - Throws: what `work` throws, which is not kept.
    package func once(
        _ name: String, of key: UUID, secret: String, recover: FormRecovery? = nil,
        _ work: @escaping @Sendable () async throws -> [UInt8]
    ) async throws -> [UInt8] {
        let wanted = IdempotentRequest(caller: key, secret: secret, key: name, content: Array(name.utf8))
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

    /// The answer that is kept of earlier work. Nothing is carried out.
    ///
    /// - Throws: `unauthenticated` where nothing is kept.
    package func answered(_ name: String, of key: UUID, secret: String) async throws -> [UInt8] {
        try await once(name, of: key, secret: secret) {
            throw Problem(.unauthenticated, "Nothing is kept of this request.")
        }
    }
}

/// What became of a thing that an earlier form began to make, as the answer to that form.
package typealias FormRecovery = @Sendable (UUID) async throws -> [UInt8]?
