package import FoundationEssentials

/// The first answers to requests that carry an `Idempotency-Key`, given again to repetitions.
package protocol IdempotencyStore: Sendable {
    /// Carries a request out once, in one transaction with keeping its answer: both are there, or neither.
    ///
    /// A request with the same key meanwhile, on any replica, waits and gets the answer; if the first was refused, it is
    /// carried out itself. `work` must do all it does through the stores, in the task that called it.
    ///
    /// - Throws: `idempotency-mismatch`; `store-unavailable`; what `work` throws: then nothing was changed, and nothing is
    ///   kept.
    func once(
        _ request: IdempotentRequest, now: Date, work: @Sendable () async throws -> KeptAnswer
    ) async throws -> IdempotentOutcome

    /// Carries a request out that takes several steps, calls to Apple among them.
    ///
    /// The thing that `work` begins to make is noted in the transaction that begins it. When the process dies before
    /// the answer is kept, a later repetition gets what `recover` says of the thing that was begun.
    ///
    /// - Parameters:
    ///   - patience: how long a repetition waits for the first request to finish.
    ///   - recover: the answer for a thing that was begun; `nil`: it came to nothing, the work is done anew.
    /// - Throws: as `once`, but what was begun stays noted; `idempotency-in-progress` when the first is still at work
    ///   after `patience`.
    func inSteps(
        _ request: IdempotentRequest, lease: Duration, patience: Duration, now: @Sendable () -> Date,
        recover: @Sendable (UUID) async throws -> KeptAnswer?,
        work: @Sendable () async throws -> KeptAnswer
    ) async throws -> IdempotentOutcome
}

/// A request to be carried out once.
package struct IdempotentRequest: Sendable {
    /// The ID of the caller's API key: keys of different callers never meet.
    package var caller: UUID
    /// The caller's secret: what is kept can only be read with it.
    package var secret: String
    package var key: String
    /// All that makes another request: method, path, body.
    package var content: [UInt8]

    package init(caller: UUID, secret: String, key: String, content: [UInt8]) {
        self.caller = caller
        self.secret = secret
        self.key = key
        self.content = content
    }
}

/// An answer to a request that was carried out, as it is kept.
package struct KeptAnswer: Sendable, Hashable {
    /// The HTTP status.
    package var status: Int
    /// JSON.
    package var body: [UInt8]

    package init(status: Int, body: [UInt8]) {
        self.status = status
        self.body = body
    }
}

/// An answer, and whether it is the first one again.
package struct IdempotentOutcome: Sendable, Hashable {
    package var answer: KeptAnswer
    package var isReplay: Bool

    package init(answer: KeptAnswer, isReplay: Bool) {
        self.answer = answer
        self.isReplay = isReplay
    }
}
