package import FoundationEssentials
internal import Grandstand
internal import Postgres

/// `PrunableStore` of the audit log. Whole days go, so that the log does not fill with entries that say so.
package struct PostgresAuditHistory: PrunableStore {
    private let database: Database
    private let now: @Sendable () -> Date

    package init(_ database: Database, now: @escaping @Sendable () -> Date) {
        self.database = database
        self.now = now
    }

    /// The function `prune_audit_log` adds the entry that tells of it, in the same transaction; nothing else gets past the
    /// trigger that keeps the log append-only.
    package func prune(before cutoff: Date, limit: Int) async throws -> Int {
        try await database.query(
            """
            select prune_audit_log(date_trunc('day', \(cutoff)::timestamptz, 'UTC'), \(limit)::int, \(now())) as entries
            """
        )[0].decode(Int.self, "entries")
    }
}
