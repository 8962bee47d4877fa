internal import FoundationEssentials
internal import Postgres

/// The idempotent request that this task carries out in steps. The transaction that begins to make a resource also
/// notes the resource for the request.
struct IdempotencyMark: Sendable {
    @TaskLocal static var current: IdempotencyMark?

    /// The ID of the request's row in `idempotency_keys`.
    let id: [UInt8]

    /// Notes the resource that is being made, for the request of this task if there is one.
    static func note(_ resource: UUID, on connection: PostgresConnection) async throws {
        guard let mark = current else { return }
        try await connection.query("update idempotency_keys set resource = \(resource) where id = \(mark.id)")
    }
}
