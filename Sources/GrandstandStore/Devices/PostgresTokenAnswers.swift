package import FoundationEssentials
internal import Grandstand
internal import Postgres

/// `PrunableStore` of what APNs said of device tokens: minutes, and alarms that began before the cutoff.
package struct PostgresTokenAnswers: PrunableStore {
    private let database: Database

    package init(_ database: Database) { self.database = database }

    package func prune(before cutoff: Date, limit: Int) async throws -> Int {
        try await database.query("delete from token_alarms where since < \(cutoff)")
        return try await database.query(
            """
            with old as (
                select app, minute from token_answers where minute < \(cutoff) limit \(limit) for update skip locked
            )
            delete from token_answers t using old where t.app = old.app and t.minute = old.minute
            """
        ).affectedRows
    }
}
