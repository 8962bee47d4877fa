internal import FoundationEssentials
internal import Grandstand
internal import Postgres

/// Rows of one kind that are deleted when they are old.
struct RetentionRule: Sendable {
    /// The name of the rows, for tests.
    let name: String
    /// Seconds for which a row is kept after its end: its settlement, expiry, last report or last use.
    let keep: TimeInterval
    /// How many rows one step deletes. The number is small, so that no other transaction waits long for the step.
    var chunk = 500
    /// Removes up to `limit` rows that ended before `cutoff`, the oldest first, together with all rows that belong to
    /// them. Rows that are still needed stay.
    let removal: @Sendable (_ cutoff: Date, _ limit: Int) -> Removal
}

/// How some rows are removed: first, step by step, the many rows that belong to them, then the rows themselves.
struct Removal: Sendable {
    /// The approximate maximum number of rows that one step removes: one event's start may have a million rows of
    /// `starts`.
    static let most = 5_000

    private let findIDs: PostgresQuery
    private let statements: @Sendable (_ ids: PostgresQuery) -> [PostgresQuery]

    /// - Parameters:
    ///   - findIDs: a statement that finds the IDs of some rows.
    ///   - statements: makes statements that remove or lock at most `most` rows each, from an expression for the array of
    ///     the IDs. The last removes the rows themselves.
    init(_ findIDs: PostgresQuery, _ statements: @escaping @Sendable (_ ids: PostgresQuery) -> [PostgresQuery]) {
        (self.findIDs, self.statements) = (findIDs, statements)
    }

    /// Makes the planner read rows in the order of an index, until there are enough: with outdated statistics, the
    /// planner would otherwise read and sort all rows in each step. Lets the trigger `forget_deliveries` delete history.
    /// Both until the commit.
    static let settings: PostgresQuery = """
        select set_config('grandstand.forgets_history', 'on', true), set_config('enable_seqscan', 'off', true),
            set_config('enable_sort', 'off', true), set_config('enable_bitmapscan', 'off', true)
        """

    /// Makes one step, in a transaction with `settings`.
    ///
    /// - Returns: the number of rows that were removed or locked; 0: no row is left.
    func step(on connection: PostgresConnection) async throws -> Int {
        let row = try await connection.query(
            "select ids::text, pg_typeof(ids)::text as type from (select array(\(findIDs)) as ids) f")[0]
        let (ids, type): (String, String) = (try row.decode("ids"), try row.decode("type"))
        guard ids != "{}" else { return 0 }
        let list: PostgresQuery = "\(ids)::text::\(PostgresQuery(unsafeSQL: type))"
        var removed = 0
        for statement in statements(list) where removed < Self.most {
            removed += try await connection.query(statement).affectedRows
        }
        return removed
    }
}

extension Database {
    /// Deletes all rows that are old enough now, one rule after the other and in small steps, so that no other transaction
    /// has to wait. If a rule fails, the others are applied.
    func prune(_ rules: [RetentionRule], now: @Sendable () -> Date) async throws {
        var failure: (any Error)?
        for rule in rules {
            do {
                while try await prune(rule, before: now() - rule.keep, limit: rule.chunk) >= rule.chunk {
                    try await Task.sleep(for: .milliseconds(100))
                }
            } catch {
                failure = error
            }
        }
        if let failure { throw failure }
    }

    /// Makes one step of a rule.
    ///
    /// - Returns: how many rows were removed; at least `limit` if more of them may be left.
    func prune(_ rule: RetentionRule, before cutoff: Date, limit: Int) async throws -> Int {
        try await transaction { connection in
            try await connection.query(Removal.settings)
            return try await rule.removal(cutoff, limit).step(on: connection)
        }
    }
}

/// What is deleted when it is old or when its app was deleted, and how.
enum Retention {
    /// - Parameters:
    ///   - history: seconds for which events and everything about them are kept; `audit` and `installations`: the same
    ///     for the audit log and for installations.
    static func rules(
        history: TimeInterval = 0, audit: TimeInterval = 0, installations: TimeInterval = 0
    ) -> [RetentionRule] {
        [
            // Settled broadcasts. An event's newest content stays.
            rule("broadcasts", in: "broadcasts", by: "accepted_at", keep: history) {
                """
                not scheduled and not exists (select from deliveries d where d.broadcast_id = t.id
                    and (d.settled_at is null or d.settled_at >= \($0)))
                and not exists (select from audiences u
                    where u.event_key = t.event_key and t.id in (u.newest_broadcast, u.state_broadcast))
                """
            },
            // Events that are over, with all their rows. An event has about twenty rows in addition to its messages.
            RetentionRule(name: "events", keep: history, chunk: 50) {
                Removal(oldEvents(before: $0, limit: $1)) {
                    [
                        starts(of: "(select id from start_runs where event_key = any(\($0)) offset 0) r"),
                        broadcasts("event_key = any(\($0))"), "delete from events where key = any(\($0))",
                    ]
                }
            },
            // Installations that were not seen, with all their rows: about five for each.
            rule(
                "installations", in: "installations", by: "seen_at", keep: installations,
                removing: InstallationTotals.deleteDevices
            ),
            // Deleted channels, with the messages that were sent to them, and audiences that have only them.
            rule("channels", in: "channels", by: "changed_at", keep: history, step: 100) { _ in
                """
                state = 'deleted' and (select true from audiences l
                    cross join lateral \(ChannelStore.pending(lane: "l.lane")) d where l.channel = t.id limit 1) is null
                """
            } removing: {
                """
                with gone as (delete from channels where \($0) returning id), unowned as (
                    delete from audiences where channel = any(array(select id from gone)) and event_key is null)
                select from gone
                """
            },
            // Audiences that were removed, and those of channels without an event. Those with a channel stay as long as it.
            rule("lanes", in: "audiences", by: "closed_at", keep: history) { _ in
                "channel is null and event_key is null and \(ChannelStore.hasUnsettled(lane: "t.lane")) is null"
            },
            // Settled webhook messages, and messages that wait for a disabled webhook.
            rule("webhook messages", in: "webhook_messages", by: "created_at", keep: history) {
                """
                (settled_at < \($0) or state = 'queued'
                    and exists (select from webhooks where id = t.webhook and state = 'disabled'))
                """
            },
            // Activities without a report. No activity exists on a device for longer than half a day.
            rule("activities", in: "activities", by: "reported_at", keep: history),
            // API keys that were revoked or expired.
            rule("keys", in: "api_keys", by: "least(revoked_at, expires_at)", keep: audit),
            // Whole days of the audit log; entries younger than 30 days always stay. `prune_audit_log` also adds an entry
            // about the deletion. The trigger that keeps the log append-only allows no other way to delete.
            RetentionRule(name: "audit entries", keep: audit, chunk: 5_000) { cutoff, limit in
                Removal("select 1") { _ in
                    [
                        """
                        select from generate_series(
                            1, prune_audit_log(date_trunc('day', \(cutoff)::timestamptz, 'UTC'), \(limit)::int, now()))
                        """
                    ]
                }
            },
            // Stored answers to requests with an `Idempotency-Key`.
            rule("kept answers", in: "idempotency_keys", by: "accepted_at", keep: IdempotencyStore.lifetime),
            // Changes that every replica has read, or will not need because it reads everything.
            rule("lookup journal", in: "lookup_journal", by: "at", keep: LookupStore.journalSeconds, step: 5_000),
        ]
    }

    /// How the rows of a deleted app are removed, in this order: rows are removed before the rows that they refer to.
    ///
    /// - Parameters:
    ///   - app: its bundle ID.
    ///   - ids: its numbers in its environments.
    static func removals(of app: String, _ ids: [Int32]) -> [Removal] {
        [
            // Audiences. Their events stay, for other apps and for their organisers.
            Removal(
                "select lane from audiences where bundle_id = \(app) and event_key is not null order by event_key limit 50"
            ) { lanes in
                [
                    """
                    delete from deliveries where id = any(array(
                        select d.id from (select id from broadcasts where event_key = any(array(
                            select event_key from audiences where lane = any(\(lanes)))) offset 0) b
                        cross join lateral (select id, lane from deliveries where broadcast_id = b.id offset 0) d
                        where d.lane = any(\(lanes)) limit \(Removal.most)))
                    """, LaneRows.lock(lanes), "update audiences set event_key = null where lane = any(\(lanes))",
                ]
            },
            Removal("select id from start_runs where app = any(\(ids)) limit 100") {
                [starts(of: "unnest(\($0)) r(id)"), "delete from start_runs where id = any(\($0))"]
            },
            Removal("select id from installations where app = any(\(ids)) order by app, installation limit 500") {
                [
                    "delete from follows where installation = any(\($0))",
                    "delete from installations where id = any(\($0))",
                ]
            },
            Removal(
                """
                select id from channels where bundle_id = \(app) and state not in \(Channel.State.sql(.isReconciled))
                order by bundle_id, environment, created_at, id limit 200
                """
            ) { [broadcasts("channel = any(\($0))"), "delete from channels where id = any(\($0))"] },
            Removal("select lane from audiences where bundle_id = \(app) order by lane limit 500") {
                [
                    "delete from deliveries where lane = any(\($0)) and settled_at is null",
                    "delete from audiences where lane = any(\($0)) and channel is null",
                ]
            },
        ]
    }

    /// A rule for the rows `t` of a table by their `time`, if `condition` holds. A row that another transaction has locked is
    /// left for the next step.
    private static func rule(
        _ name: String, in table: PostgresQuery, by time: PostgresQuery, keep: TimeInterval, step: Int = 500,
        also condition: @escaping @Sendable (_ cutoff: Date) -> PostgresQuery = { _ in "true" },
        removing delete: (@Sendable (_ condition: PostgresQuery) -> PostgresQuery)? = nil
    ) -> RetentionRule {
        RetentionRule(name: name, keep: keep, chunk: step) { cutoff, limit in
            Removal(
                """
                select ctid from \(table) t where \(time) < \(cutoff) and \(condition(cutoff))
                order by \(time) limit \(limit) for update skip locked
                """
            ) { [delete?("ctid = any(\($0))") ?? "delete from \(table) where ctid = any(\($0))"] }
        }
    }

    /// The oldest events that can be deleted. An event stays while one of its channels is at Apple, is perhaps being
    /// created there, or was deleted recently. An event also stays while one of its messages waits or a start is open.
    private static func oldEvents(before cutoff: Date, limit: Int) -> PostgresQuery {
        """
        select e.key from events e
        where (e.ended_at is not null or e.cancelled_at is not null)
            and greatest(e.ended_at, e.cancelled_at, e.starts_at, e.ends_at) < \(cutoff)
            and (select true from channels c where c.event_key = e.key
                and (c.state <> 'deleted' or c.changed_at >= \(cutoff)) limit 1) is null
            and (select true from broadcasts b where b.event_key = e.key
                and (b.scheduled or b.accepted_at >= \(cutoff)) limit 1) is null
            and (select true from (select lane from audiences where event_key = e.key offset 0) u
                cross join lateral \(ChannelStore.hasUnsettled(lane: "u.lane")) d limit 1) is null
            and (select true from start_runs r where r.event_key = e.key and r.closed_at is null limit 1) is null
        order by greatest(e.ended_at, e.cancelled_at, e.starts_at, e.ends_at) limit \(limit)
        for update skip locked
        """
    }

    /// Removes starts of the runs `r`.
    private static func starts(of runs: PostgresQuery) -> PostgresQuery {
        """
        delete from starts where (run, installation) in (
            select s.run, s.installation from \(runs) cross join lateral (
                select run, installation from starts where run = r.id limit \(Removal.most)) s limit \(Removal.most))
        """
    }

    private static func broadcasts(_ condition: PostgresQuery) -> PostgresQuery {
        """
        delete from broadcasts where id = any(array(select id from broadcasts where \(condition) limit \(Removal.most)))
        """
    }
}
