internal import FoundationEssentials
internal import Postgres

/// The idempotent request that is being carried out in steps in this task. The transaction that commits the beginning
/// of a thing notes it in the same transaction.
struct IdempotencyMark: Sendable {
    @TaskLocal static var current: IdempotencyMark?

    /// The name in `idempotency_keys`.
    let id: [UInt8]

    /// Notes what is being made, for the request of this task if there is one.
    static func note(_ resource: UUID, on connection: PostgresConnection) async throws {
        guard let mark = current else { return }
        try await connection.query("update idempotency_keys set resource = \(resource) where id = \(mark.id)")
    }
}
