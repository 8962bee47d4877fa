package import FoundationEssentials
internal import JSON

/// Stores the first answer to each request with an `Idempotency-Key`, and returns it to repetitions.
package protocol IdempotencyStore: Sendable {
    /// Performs a request once. Its changes and the stored answer commit in one transaction.
    ///
    /// A repetition that comes meanwhile, on any replica, waits and gets the stored answer. If the first request
    /// failed, the repetition is performed. `work` may change data only through the stores, and only in the task that
    /// called it, because the stores find the transaction by the task.
    ///
    /// - Throws: `idempotency-mismatch`; `store-unavailable`; any error of `work`: then nothing was changed or stored.
    func once(
        _ request: IdempotentRequest, now: Date, work: @Sendable () async throws -> KeptAnswer
    ) async throws -> IdempotentOutcome

    /// Performs a request of several steps once. A step may be a call to Apple.
    ///
    /// The ID of the object that `work` creates is stored in the same transaction as the object. If the process dies
    /// before the answer is stored, a repetition calls `recover` with this ID.
    ///
    /// - Parameters:
    ///   - lease: how long the request holds its idempotency key. If the process dies, repetitions wait until the lease
    ///     ends.
    ///   - waitLimit: how long a repetition waits for the first request to finish.
    ///   - recover: the answer for an object that was begun; `nil`: the object was not completed, so `work` runs again.
    /// - Throws: `idempotency-mismatch`; `store-unavailable`; any error of `work`, but the stored ID stays;
    ///   `idempotency-in-progress` if the first request still runs after `waitLimit`.
    func inSteps(
        _ request: IdempotentRequest, lease: Duration, waitLimit: Duration, now: @Sendable () -> Date,
        recover: @Sendable (UUID) async throws -> KeptAnswer?,
        work: @Sendable () async throws -> KeptAnswer
    ) async throws -> IdempotentOutcome
}

/// A request to be performed once.
package struct IdempotentRequest: Sendable {
    /// The ID of the caller's API key. Different callers may use the same idempotency key.
    package var caller: UUID
    package var key: String
    /// What distinguishes requests with the same key: method, path, body.
    package var content: [UInt8]
    /// The member of the answer that is not stored, because it is a secret; `nil`: there is none.
    package var shownOnce: String?

    package init(caller: UUID, key: String, content: [UInt8], shownOnce: String? = nil) {
        self.caller = caller
        self.key = key
        self.content = content
        self.shownOnce = shownOnce
    }
}

/// The answer to a performed request, as it is stored.
package struct KeptAnswer: Sendable, Hashable {
    /// The HTTP status.
    package var status: Int
    /// JSON.
    package var body: [UInt8]

    package init(status: Int, body: [UInt8]) {
        self.status = status
        self.body = body
    }

    /// The body for repetitions: a warning takes the place of the member `secret`.
    package func repeatedBody(without secret: String?) throws -> [UInt8] {
        guard let secret, case .object(let members) = try JSONValue(parsing: body).kind else { return body }
        return JSONWriter.text { object in
            for member in members where member.name != secret {
                object.name(dynamic: member.name)
                object.raw(member.value.source)
            }
            let warning =
                "The \(secret) was shown once, in the first answer. If you do not have it, rotate it to get a new one."
            object.member("warnings", [warning])
        }
    }
}

/// An answer, and whether it is the stored answer to an earlier request.
package struct IdempotentOutcome: Sendable, Hashable {
    package var answer: KeptAnswer
    package var isReplay: Bool

    package init(answer: KeptAnswer, isReplay: Bool) {
        self.answer = answer
        self.isReplay = isReplay
    }
}
