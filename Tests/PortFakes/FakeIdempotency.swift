package import FoundationEssentials
package import Grandstand

/// An `IdempotencyStore` whose answers the test sets: `atOnce` for requests in one transaction (`once`), and `stepwise`
/// for requests in several steps (`inSteps`).
package struct FakeIdempotency: IdempotencyStore {
    package typealias Work = @Sendable () async throws -> KeptAnswer
    package typealias Recovery = @Sendable (UUID) async throws -> KeptAnswer?

    package var atOnce: @Sendable (IdempotentRequest, Work) async throws -> IdempotentOutcome = { _, _ in
        throw Unasked()
    }
    package var stepwise: @Sendable (IdempotentRequest, Recovery, Work) async throws -> IdempotentOutcome = {
        _, _, _ in throw Unasked()
    }

    package init() {}

    package func once(
        _ request: IdempotentRequest, now: Date, work: @Sendable () async throws -> KeptAnswer
    ) async throws -> IdempotentOutcome { try await atOnce(request, work) }
    package func inSteps(
        _ request: IdempotentRequest, lease: Duration, waitLimit: Duration, now: @Sendable () -> Date,
        recover: @Sendable (UUID) async throws -> KeptAnswer?,
        work: @Sendable () async throws -> KeptAnswer
    ) async throws -> IdempotentOutcome { try await stepwise(request, recover, work) }
}
