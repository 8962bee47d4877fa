internal import FoundationEssentials
internal import Grandstand
internal import Postgres

/// What is deleted when it is old or when its app was deleted, and how.
struct PostgresHistory: Sendable {
    /// The maximum number of rows of each kind (starts, broadcasts) that one step deletes. These rows are
    /// deleted before their events, and one event's start may have a million rows of `starts`.
    static let rowsOfEvents = 5_000

    private let database: Database

    init(_ database: Database) { self.database = database }

    /// All rules. Those of a deleted app are applied in this order: rows are removed before the rows that they refer to.
    ///
    /// - Parameters:
    ///   - history: seconds for which events and everything about them are kept; `audit` and `installations`: the same
    ///     for the audit log and for installations.
    func rules(
        history: TimeInterval = 0, audit: TimeInterval = 0, installations: TimeInterval = 0
    ) -> [RetentionRule] {
        [
            // Settled broadcasts. An event's newest content stays.
            RetentionRule(rows: "broadcasts", keep: history, prune: pruneBroadcasts),
            // Events that are over, with all their rows. An event stays while it has a channel at Apple, a waiting
            // message or an open start. An event has about twenty rows in addition to its messages.
            RetentionRule(rows: "events", keep: history, step: 50, prune: pruneEvents),
            // Audiences of a deleted app. The events stay, for other apps and for their organisers.
            RetentionRule(rows: "audiences", ofApp: Self.removeAudiences),
            // Runs of starts, with their rows in `starts`.
            RetentionRule(rows: "starts", ofApp: Self.removeRuns),
            // Installations that were not seen, with all their rows: about five for each.
            RetentionRule(rows: "installations", keep: installations) {
                try await database.query(
                    DeviceAccount.delete(
                        """
                        ctid = any(array(
                            select ctid from installations where seen_at < \($0)
                            order by seen_at limit \($1) for update skip locked))
                        """)
                )[0].decode("n")
            } ofApp: { connection, app, limit in
                5
                    * (try await connection.query(
                        """
                        delete from installations where id = any(array(
                            select id from installations where app = any(\(app.ids)) order by app, installation
                            limit \(max(1, limit / 5))))
                        """
                    ).affectedRows)
            },
            // Deleted channels, with the messages that were sent to them.
            RetentionRule(
                rows: "channels", keep: history, step: 100, prune: pruneChannels, ofApp: Self.removeChannels),
            // Audiences that were removed, and those of channels without an event. Those with a channel stay as long as it.
            RetentionRule(rows: "lanes", keep: history, prune: pruneLanes) { connection, app, limit in
                try await Self.remove(
                    """
                    select lane as id from audiences where bundle_id = \(app.name) order by lane limit \(limit)
                    """,
                    then: { (lanes: [Int]) in
                        [
                            "delete from deliveries where lane = any(\(lanes)) and settled_at is null",
                            "delete from audiences where lane = any(\(lanes)) and channel is null",
                        ]
                    }, limit, on: connection)
            },
            Self.ofApp("reconciliations", "reconciliations"), Self.ofApp("quota_samples", "quota samples"),
            Self.ofApp("unmanaged_channels", "unmanaged channels"),
            // Settled webhook messages, and messages that wait for a disabled webhook.
            RetentionRule(rows: "webhook messages", keep: history) { cutoff, limit in
                try await prune(
                    "webhook_messages", "created_at", cutoff, limit,
                    also: """
                        (settled_at < \(cutoff) or state = 'queued'
                            and exists (select from webhooks where id = old.webhook and state = 'disabled'))
                        """)
            },
            // Activities without a report. No activity exists on a device for longer than half a day.
            RetentionRule(rows: "activities", keep: history) { try await prune("activities", "reported_at", $0, $1) },
            // API keys that were revoked or expired.
            RetentionRule(rows: "keys", keep: audit) {
                try await prune(
                    "api_keys", "least(revoked_at, expires_at)", $0, $1,
                    also: "(revoked_at is not null or expires_at is not null)")
            },
            // Whole days of the audit log; entries younger than 30 days always stay. `prune_audit_log` also adds an entry
            // about the deletion. The trigger that keeps the log append-only allows no other way to delete.
            RetentionRule(rows: "audit entries", keep: audit, step: 5_000) { cutoff, limit in
                try await database.query(
                    """
                    select prune_audit_log(date_trunc('day', \(cutoff)::timestamptz, 'UTC'), \(limit)::int, now())
                        as entries
                    """
                )[0].decode(Int.self, "entries")
            },
            // Stored answers to requests with an `Idempotency-Key`.
            RetentionRule(rows: "kept answers", keep: IdempotencyStore.lifetime) {
                try await prune("idempotency_keys", "accepted_at", $0, $1)
            },
            // Changes that every replica has read, or will not need because it reads everything.
            RetentionRule(rows: "lookup journal", keep: LookupStore.journalSeconds, step: 5_000) {
                try await prune("lookup_journal", "at", $0, $1)
            },
            // Rows of past hours in `device_accounts`. They are added up to one row for each app.
            RetentionRule(rows: "hours of device accounts", keep: 7_200, prune: addUpDeviceHours),
        ]
    }

    /// Deletes rows of a table whose `time` is before the cutoff, if `condition` holds. A row that another transaction
    /// has locked is left for the next step.
    private func prune(
        _ table: PostgresQuery, _ time: PostgresQuery, _ cutoff: Date, _ limit: Int,
        also condition: PostgresQuery = "true"
    ) async throws -> Int {
        try await database.query(
            """
            delete from \(table) where ctid = any(array(
                select ctid from \(table) old where \(time) < \(cutoff) and \(condition)
                order by \(time) limit \(limit) for update skip locked))
            """
        ).affectedRows
    }

    /// Adds up the rows of past hours to one row for each app. No session writes to the rows of past hours any more.
    private func addUpDeviceHours(before cutoff: Date, limit: Int) async throws -> Int {
        try await database.query(
            """
            with gone as (
                delete from device_accounts where ctid = any(array(
                    select ctid from device_accounts where session <> 0 and hour < \(cutoff)
                    limit \(limit) for update skip locked))
                returning app, installations, created
            ), sums as (
                insert into device_accounts as d
                select app, 'epoch'::timestamptz, 0, sum(installations), sum(created) from gone group by app
                order by app
                on conflict (app, hour, session) do update set installations = d.installations + excluded.installations,
                    created = d.created + excluded.created
            )
            select count(*) as n from gone
            """
        )[0].decode("n")
    }

    /// Makes the planner read the oldest rows in the order of their index, until there are enough. With outdated
    /// statistics, the planner would otherwise read and sort all rows in each step.
    private static let inOrder: PostgresQuery = """
        select set_config('enable_sort', 'off', true), set_config('enable_bitmapscan', 'off', true)
        """

    // MARK: Broadcasts

    private func pruneBroadcasts(before cutoff: Date, limit: Int) async throws -> Int {
        try await database.query(
            """
            with old as (
                select b.id from broadcasts b
                where b.accepted_at < \(cutoff) and not b.scheduled
                    and not exists (select from deliveries d where d.broadcast_id = b.id
                        and (d.settled_at is null or d.settled_at >= \(cutoff)))
                    and not exists (select from audiences u
                        where u.event_key = b.event_key and b.id in (u.newest_broadcast, u.state_broadcast))
                order by b.accepted_at limit \(limit) for update skip locked
            )
            delete from broadcasts b using old where b.id = old.id
            """
        ).affectedRows
    }

    // MARK: Events

    /// - Returns: how many events were deleted; or `limit`, if more rows that belong to these events must be deleted
    ///   first.
    private func pruneEvents(before cutoff: Date, limit: Int) async throws -> Int {
        try await database.transaction { connection in
            let old = try await connection.pipeline([Self.inOrder, Self.events(before: cutoff, limit: limit)])[1]
            let keys: [String] = try old.map { try $0.decode("key") }
            guard !keys.isEmpty else { return 0 }
            let runs: PostgresQuery = "(select id from start_runs where event_key = any(\(keys)) offset 0) r"
            let rows = Self.rowsOfEvents
            for part in [Self.starts(of: runs, rows), Self.broadcasts("event_key = any(\(keys))", rows)]
            where try await connection.query(part).affectedRows >= rows { return limit }
            try await connection.pipeline([Self.forgetting, "delete from events where key = any(\(keys))"])
            return keys.count
        }
    }

    /// The oldest events that can be deleted. An event stays while one of its channels is at Apple, is perhaps being
    /// created there, or was deleted recently. An event also stays while one of its messages waits.
    private static func events(before cutoff: Date, limit: Int) -> PostgresQuery {
        """
        select e.key from events e
        where (e.ended_at is not null or e.cancelled_at is not null)
            and greatest(e.ended_at, e.cancelled_at, e.starts_at, e.ends_at) < \(cutoff)
            and (select true from channels c where c.event_key = e.key
                and (c.state <> 'deleted' or c.changed_at >= \(cutoff)) limit 1) is null
            and (select true from broadcasts b where b.event_key = e.key
                and (b.scheduled or b.accepted_at >= \(cutoff)) limit 1) is null
            and (select true from (select lane from audiences where event_key = e.key offset 0) u
                cross join lateral \(ChannelStore.unsettled(lane: "u.lane")) d limit 1) is null
            and (select true from start_runs r where r.event_key = e.key and r.closed_at is null limit 1) is null
        order by greatest(e.ended_at, e.cancelled_at, e.starts_at, e.ends_at) limit \(limit)
        for update skip locked
        """
    }

    /// Removes starts of the runs `r`.
    private static func starts(of runs: PostgresQuery, _ limit: Int) -> PostgresQuery {
        """
        delete from starts where (run, installation) in (
            select s.run, s.installation from \(runs) cross join lateral (
                select run, installation from starts where run = r.id limit \(limit)) s limit \(limit))
        """
    }

    private static func broadcasts(_ condition: PostgresQuery, _ limit: Int) -> PostgresQuery {
        "delete from broadcasts where id = any(array(select id from broadcasts where \(condition) limit \(limit)))"
    }

    /// Lets the trigger `forget_deliveries` delete history until the commit.
    private static let forgetting: PostgresQuery = "select set_config('grandstand.forgets_history', 'on', true)"

    // MARK: Channels and lanes

    /// Lanes are locked before channels, as everywhere. A channel that a reconciliation restores meanwhile stays.
    private func pruneChannels(before cutoff: Date, limit: Int) async throws -> Int {
        try await database.transaction { connection in
            let ids: [UUID] = try await connection.pipeline([
                Self.inOrder,
                """
                select c.id from channels c where c.state = 'deleted' and c.changed_at < \(cutoff)
                    and (select true from audiences l cross join lateral \(ChannelStore.pending(lane: "l.lane")) d
                        where l.channel = c.id limit 1) is null
                order by c.changed_at limit \(limit)
                """,
            ])[1].map { try $0.decode("id") }
            guard !ids.isEmpty else { return 0 }
            let results = try await connection.pipeline([
                Self.forgetting,
                """
                select lane from audiences where lane = any(array(select lane from audiences where channel = any(\(ids))))
                order by lane for update
                """,
                """
                delete from channels where id = any(\(ids)) and coalesce(state = 'deleted' and changed_at < \(cutoff), false)
                """,
            ])
            try await connection.query(Self.unowned(try results[1].map { try $0.decode("lane") }))
            return results[2].affectedRows
        }
    }

    private func pruneLanes(before cutoff: Date, limit: Int) async throws -> Int {
        try await database.transaction { connection in
            try await connection.pipeline([Self.inOrder, Self.forgetting])
            return try await Self.remove(
                """
                select lane as id from audiences u
                where closed_at < \(cutoff) and channel is null and event_key is null
                    and \(ChannelStore.unsettled(lane: "u.lane")) is null
                order by closed_at limit \(limit) for update skip locked
                """, then: { (lanes: [Int]) in [Self.unowned(lanes)] }, limit, on: connection)
        }
    }

    /// Deletes those audiences that have neither an event nor a channel.
    private static func unowned(_ lanes: [Int]) -> PostgresQuery {
        "delete from audiences where lane = any(\(lanes)) and channel is null and event_key is null"
    }

    // MARK: Rows of a deleted app

    private static func ofApp(_ table: PostgresQuery, _ rows: String) -> RetentionRule {
        RetentionRule(
            rows: rows,
            ofApp: { connection, app, limit in
                try await connection.query(
                    """
                    delete from \(table) where ctid = any(array(
                        select ctid from \(table) where bundle_id = \(app.name)
                        order by bundle_id, environment limit \(limit)))
                    """
                ).affectedRows
            })
    }

    /// Removes audiences from their events, and the deliveries on their lanes.
    @Sendable private static func removeAudiences(
        on connection: PostgresConnection, of app: RetentionRule.App, _ limit: Int
    ) async throws -> Int {
        let rows = try await connection.query(
            """
            select event_key, lane from audiences where bundle_id = \(app.name) and event_key is not null
            order by event_key limit 50
            """)
        guard !rows.isEmpty else { return 0 }
        let keys: [String] = try rows.map { try $0.decode("event_key") }
        let lanes: [Int] = try rows.map { try $0.decode("lane") }
        let sent = try await connection.query(
            """
            delete from deliveries where id = any(array(
                select d.id from (select id from broadcasts where event_key = any(\(keys)) offset 0) b
                cross join lateral (select id, lane from deliveries where broadcast_id = b.id offset 0) d
                where d.lane = any(\(lanes)) limit \(limit)))
            """
        ).affectedRows
        guard sent < limit else { return sent }
        return try await connection.pipeline([
            LaneRows.lock("\(lanes)"), "update audiences set event_key = null where lane = any(\(lanes))",
        ])[1].affectedRows + sent
    }

    /// Removes some rows: first, step by step, the many rows that belong to them, then the rows themselves with what is
    /// left of theirs.
    ///
    /// - Parameters:
    ///   - found: a statement that finds some of the rows, with their `id`.
    ///   - first: statements that remove at most `limit` rows each.
    private static func remove<ID: PostgresDecodable>(
        _ found: PostgresQuery, first: ([ID]) -> [PostgresQuery] = { _ in [] }, then last: ([ID]) -> [PostgresQuery],
        _ limit: Int, on connection: PostgresConnection
    ) async throws -> Int {
        let ids: [ID] = try await connection.query(found).map { try $0.decode("id") }
        guard !ids.isEmpty else { return 0 }
        var removed = 0
        for part in first(ids) {
            removed += try await connection.query(part).affectedRows
            guard removed < limit else { return removed }
        }
        return try await connection.pipeline(last(ids)).reduce(removed) { $0 + $1.affectedRows }
    }

    @Sendable private static func removeRuns(
        on connection: PostgresConnection, of app: RetentionRule.App, _ limit: Int
    ) async throws -> Int {
        try await remove(
            "select id from start_runs where app = any(\(app.ids)) limit 100",
            first: { (runs: [Int]) in [starts(of: "unnest(\(runs)) r(id)", limit)] },
            then: { ["delete from start_runs where id = any(\($0))"] }, limit, on: connection)
    }

    /// Removes channels that were deleted, and the messages that were sent to these channels without an event.
    @Sendable private static func removeChannels(
        on connection: PostgresConnection, of app: RetentionRule.App, _ limit: Int
    ) async throws -> Int {
        try await remove(
            """
            select id from channels where bundle_id = \(app.name) and state not in \(Channel.State.sql(.isReconciled))
            order by bundle_id, environment, created_at, id limit 200
            """,
            first: { (channels: [UUID]) in [broadcasts("channel = any(\(channels))", limit)] },
            then: { ["delete from channels where id = any(\($0))"] }, limit, on: connection)
    }
}
