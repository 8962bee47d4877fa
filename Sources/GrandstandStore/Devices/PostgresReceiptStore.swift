internal import APNsWire
package import FoundationEssentials
package import Grandstand
internal import Postgres

/// Receipts in the table of this name.
extension PostgresInstallationStore: ReceiptStore {
    /// Receipts of one installation about one event that are kept: more than a match has messages.
    private static let maximumReceipts = 2_000

    package func record(
        _ batch: ReceiptBatch, of id: InstallationID, secret: String, now: Date
    ) async throws -> Int {
        let key = try await key(of: id)
        let items = batch.items
        return try await database.transaction { connection in
            guard let number = try await Self.number(of: key, secret, on: connection) else { throw Self.absent(id) }
            let rows = try await connection.query(
                """
                with known as (
                    select r.* from unnest(\(items.map(\.eventKey.rawValue)), \(items.map(\.timestamp)),
                        \(items.map { batch.shownAt($0) })) as r(event_key, apns_timestamp, shown_at)
                    where exists (select from events where key = r.event_key)
                        and (select count(*) from receipts where event_key = r.event_key and app = \(Int32(key.app))
                            and installation = \(number)) < \(Self.maximumReceipts)
                ), recorded as (
                    insert into receipts
                        (event_key, app, installation, apns_timestamp, shown_at, clock_ahead, received_at)
                    select event_key, \(Int32(key.app)), \(number), apns_timestamp, shown_at, \(batch.clockAhead), \(now)
                    from known on conflict do nothing
                )
                select count(*) as n from known
                """)
            return try rows.first?.decode("n") ?? 0
        }
    }

    package func receipts(
        of key: EventKey, within reach: AppReach
    ) async throws -> [(app: AppEnvironment, report: ReceiptReport)] {
        guard try await calls.query("select from events where key = \(key.rawValue)").first != nil else {
            throw Problem(.eventNotFound, "There is no event \(key).")
        }
        try await EventReach.require(reach, event: key, on: calls)
        var audiences: [AppEnvironment: Evidence] = [:]
        for row in try await calls.query(Self.sent(key, within: reach)) {
            audiences[try Self.app(row), default: Evidence()].sent.append(
                .init(
                    timestamp: try row.decode("apns_timestamp"), acceptedAt: try row.decode("accepted_at"),
                    isAccepted: try row.decode("is_accepted")))
        }
        for row in try await calls.query(Self.tallies(key, within: reach)) {
            audiences[try Self.app(row), default: Evidence()].tallies.append(
                .init(
                    timestamp: try row.decode("apns_timestamp"), shownAt: try row.decode("shown_at"),
                    isClockKnown: try row.decode("is_clock_known"), count: try row.decode("n")))
        }
        for row in try await calls.query(Self.samples(key, within: reach)) {
            audiences[try Self.app(row), default: Evidence()].sample = try row.decode("n")
        }
        return audiences.sorted {
            ($0.key.bundleID, $0.key.environment.rawValue) < ($1.key.bundleID, $1.key.environment.rawValue)
        }.map { app, evidence in
            (app, ReceiptReport(sample: evidence.sample, sent: evidence.sent, tallies: evidence.tallies))
        }
    }

    private struct Evidence {
        var sample = 0
        var sent: [ReceiptReport.Sent] = []
        var tallies: [ReceiptReport.Tally] = []
    }

    private static func app(_ row: PostgresRow) throws -> AppEnvironment {
        AppEnvironment(bundleID: try row.word("bundle_id"), environment: try row.word("environment"))
    }

    private static func sent(_ key: EventKey, within reach: AppReach) -> PostgresQuery {
        """
        select l.bundle_id, l.environment, d.apns_timestamp, d.state = 'accepted' as is_accepted,
            greatest(b.accepted_at, b.send_at) as accepted_at
        from broadcasts b
            cross join lateral (
                select lane, apns_timestamp, state from deliveries where broadcast_id = b.id offset 0) d
            cross join lateral (select bundle_id, environment from lanes where id = d.lane offset 0) l
        where b.event_key = \(key.rawValue) and d.apns_timestamp is not null and \(EventReach.covers(reach, lane: "l"))
        order by d.apns_timestamp, d.state = 'accepted' desc
        """
    }

    /// Receipts by the tenth of a second, so that millions are some thousand rows.
    private static func tallies(_ key: EventKey, within reach: AppReach) -> PostgresQuery {
        """
        with counts as (
            select app, apns_timestamp,
                coalesce(abs(clock_ahead) <= \(ReceiptReport.maximumClockError), false) as is_clock_known,
                to_timestamp(floor(extract(epoch from shown_at)::float8 * 10) / 10) as shown_at, count(*) as n
            from receipts where event_key = \(key.rawValue) group by 1, 2, 3, 4
        )
        select l.bundle_id, l.environment, c.apns_timestamp, c.is_clock_known, c.shown_at, c.n
        from counts c join app_environments l on l.id = c.app where \(EventReach.covers(reach, lane: "l"))
        """
    }

    private static func samples(_ key: EventKey, within reach: AppReach) -> PostgresQuery {
        """
        with counts as (
            select app, count(*) as n from (
                select app, installation from activities where event_key = \(key.rawValue) and is_sampled
                union select app, installation from receipts where event_key = \(key.rawValue)) s
            group by app
        )
        select l.bundle_id, l.environment, c.n
        from counts c join app_environments l on l.id = c.app where \(EventReach.covers(reach, lane: "l"))
        """
    }
}
