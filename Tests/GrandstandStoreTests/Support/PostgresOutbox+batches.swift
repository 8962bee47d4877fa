internal import FoundationEssentials
internal import Grandstand

@testable internal import GrandstandStore

/// Settles and releases in one transaction, without the batch that collects such calls.
extension PostgresOutbox {
    @discardableResult
    func settle(_ settlements: [Settlement], replica: UUID, now: Date) async throws -> Set<Int> {
        try await Settling(dispatch: dispatch).settle(settlements, replica: replica, now: now)
    }

    @discardableResult
    func release(_ deliveries: [ClaimedDelivery], replica: UUID, now: Date) async throws -> Set<Int> {
        try await Settling(dispatch: dispatch).release(deliveries, replica: replica, now: now)
    }
}
