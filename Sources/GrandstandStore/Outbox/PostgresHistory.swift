package import FoundationEssentials
internal import Grandstand
internal import Postgres

/// `PrunableStore` in PostgreSQL: the outbox's settled rows, and tokens that were pushed to, with the last push.
package struct PostgresHistory: PrunableStore {
    private let database: Database

    package init(_ database: Database) { self.database = database }

    package func prune(before cutoff: Date, limit: Int) async throws -> Int {
        try await database.transaction { connection in
            let rows = try await connection.query(
                """
                with old as (
                    select b.id from broadcasts b
                    where b.accepted_at < \(cutoff) and not b.scheduled
                        and not exists (select from deliveries d where d.broadcast_id = b.id
                            and (d.settled_at is null or d.settled_at >= \(cutoff)))
                        and not exists (select from audiences u join lanes l on l.id = u.lane
                            where u.event_key = b.event_key and l.newest_broadcast = b.id)
                    order by b.accepted_at limit \(limit) for update skip locked
                )
                delete from broadcasts b using old where b.id = old.id returning b.lane
                """)
            let lanes = Set(try rows.compactMap { try $0.decode(Int?.self, "lane") }).sorted()
            try await TokenLanes.forget(lanes, on: connection)
            return rows.count
        }
    }
}
