package import FoundationEssentials
internal import Grandstand
internal import Postgres

/// The retention of what phones reported: `PrunableStore` in three tables.
package struct PostgresDeviceHistory: PrunableStore {
    package enum Things: Sendable {
        /// Not seen since; all that is theirs goes with them.
        case installations
        /// Not reported since: Apple keeps no activity for half a day.
        case activities
        case receipts
    }

    private let database: Database
    private let things: Things

    package init(_ database: Database, _ things: Things) {
        self.database = database
        self.things = things
    }

    package func prune(before cutoff: Date, limit: Int) async throws -> Int {
        let query: PostgresQuery =
            switch things {
            case .installations:
                """
                delete from installations where id = any(array(
                    select id from installations where seen_at < \(cutoff) order by seen_at limit \(limit)
                    for update skip locked))
                """
            case .activities:
                """
                delete from activities where id = any(array(
                    select id from activities where reported_at < \(cutoff) order by reported_at limit \(limit)
                    for update skip locked))
                """
            case .receipts:
                """
                delete from receipts where ctid = any(array(
                    select ctid from receipts where received_at < \(cutoff) order by received_at limit \(limit)
                    for update skip locked))
                """
            }
        return try await database.query(query).affectedRows
    }
}
