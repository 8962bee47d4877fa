internal import APNsWire
package import FoundationEssentials
package import Grandstand
internal import Postgres

/// Receipts in the table `receipts`.
extension PostgresInstallationStore: ReceiptStore {
    package func record(
        _ batch: ReceiptBatch, of id: InstallationID, secret: String, now: Date
    ) async throws -> Int {
        let key = try await key(of: id)
        return try await database.transaction { connection in
            guard let number = try await Self.number(of: key, secret, on: connection) else { throw Self.absent(id) }
            guard !batch.items.isEmpty else { return 0 }
            let rows = try await connection.query(Self.insert(batch, of: number, app: key.app, now: now))
            return try rows.first?.decode("n") ?? 0
        }
    }

    /// Records new receipts, up to the bounds (`ReceiptBounds`) and while the app's installations hold less than they
    /// may (`DeviceAccount`). The installation's row is locked, so no other transaction adds receipts of this
    /// installation meanwhile. The installation's receipts are counted once for the whole batch.
    ///
    /// - Returns: the statement. Its row has `n`: the number of items that are known now.
    private static func insert(_ batch: ReceiptBatch, of installation: Int, app: Int, now: Date) -> PostgresQuery {
        let items = batch.items
        return """
            with items as (
                select r.* from unnest(\(items.map(\.eventKey.rawValue)), \(items.map(\.timestamp)),
                    \(items.map { batch.shownAt($0) })) as r(event_key, apns_timestamp, shown_at)
                join events e on e.key = r.event_key
                where \(AppEvents.concerns("r.event_key", "\(Int32(app))::integer"))
                    and r.apns_timestamp >= extract(epoch from e.created_at) - \(ReceiptBounds.before)
                    and r.apns_timestamp <= \(ReceiptBounds.latest(at: now))
            ), kept as (
                select event_key, count(*) as n from receipts where installation = \(installation) group by event_key
            ), fresh as (
                select i.event_key, i.apns_timestamp, min(i.shown_at) as shown_at,
                    row_number() over (partition by i.event_key order by i.apns_timestamp) + coalesce(k.n, 0) as place,
                    row_number() over (order by i.event_key, i.apns_timestamp) + (select coalesce(sum(n), 0) from kept)
                        as place_of_all
                from items i left join kept k on k.event_key = i.event_key
                where not exists (select from receipts p where p.event_key = i.event_key and p.app = \(Int32(app))
                    and p.installation = \(installation) and p.apns_timestamp = i.apns_timestamp)
                group by i.event_key, i.apns_timestamp, k.n
            ), account as (
                select coalesce(sum(bytes), 0) as bytes, coalesce(sum(installations), 0) as installations
                from device_accounts where app = \(Int32(app))
            ), room as (
                select event_key, apns_timestamp, shown_at,
                    place <= \(ReceiptBounds.ofEvent) and place_of_all <= \(ReceiptBounds.ofInstallation)
                        and (select bytes < \(DeviceBounds.shared) + \(DeviceBounds.ofRegistration) * installations
                            from account) as is_left
                from fresh
            ), recorded as (
                insert into receipts (event_key, app, installation, apns_timestamp, shown_at, clock_ahead, received_at)
                select event_key, \(Int32(app)), \(installation), apns_timestamp, shown_at, \(batch.clockAhead), \(now)
                from room where is_left on conflict do nothing
            )
            select count(*) filter (where coalesce(r.is_left, true)) as n
            from items i left join room r on r.event_key = i.event_key and r.apns_timestamp = i.apns_timestamp
            """
    }

    package func receipts(
        of key: EventKey, within reach: AppReach
    ) async throws -> [(app: AppEnvironment, report: ReceiptReport)] {
        guard try await reading.query("select from events where key = \(key.rawValue)").first != nil else {
            throw Problem.noEvent(key)
        }
        try await EventReach.require(reach, event: key, on: reading)
        var audiences: [AppEnvironment: Evidence] = [:]
        for row in try await reading.query(Self.sent(key, within: reach)) {
            audiences[try Self.app(row), default: Evidence()].sent.append(
                .init(
                    broadcast: try row.decode("id"), timestamp: try row.decode("apns_timestamp"),
                    acceptedAt: try row.decode("accepted_at"),
                    isAccepted: try row.decode("is_accepted")))
        }
        let sent = Set(audiences.values.flatMap { $0.sent.map(\.timestamp) }).sorted()
        for row in try await reading.query(Self.tallies(key, beside: sent, within: reach)) {
            audiences[try Self.app(row), default: Evidence()].tallies.append(
                .init(
                    timestamp: try row.decode("apns_timestamp"), shownAt: try row.decode("shown_at"),
                    isClockKnown: try row.decode("is_clock_known"), count: try row.decode("n")))
        }
        for row in try await reading.query(Self.samples(key, within: reach)) {
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

    /// Whether APNs accepted a delivery `d`; for a crowd's delivery, whether APNs accepted it for at least one member.
    private static let isAccepted: PostgresQuery =
        "(d.state = 'accepted' or coalesce((d.fan_out->>'accepted')::integer > 0, false))"

    private static func sent(_ key: EventKey, within reach: AppReach) -> PostgresQuery {
        """
        select l.bundle_id, l.environment, b.id, d.apns_timestamp, \(Self.isAccepted) as is_accepted,
            greatest(b.accepted_at, b.send_at) as accepted_at
        from broadcasts b
            cross join lateral (
                select lane, apns_timestamp, state, fan_out from deliveries where broadcast_id = b.id offset 0) d
            cross join lateral (select bundle_id, environment from lanes where id = d.lane offset 0) l
        where b.event_key = \(key.rawValue) and d.apns_timestamp is not null and \(EventReach.covers(reach, lane: "l"))
        order by d.apns_timestamp, \(Self.isAccepted) desc
        """
    }

    /// Receipts counted by the tenth of a second, so that millions become some thousand rows. If a phone's clock is not
    /// known, the time that the phone reports is left out, because no delay is calculated from it. A phone that sent no
    /// `sentAt` has corrected its clock by the `Date` header of answers. If such a phone says that it showed a message
    /// after the receipt arrived, its clock is not known either. Some timestamps belong to no broadcast, for example
    /// timestamps of starts. Of such timestamps, only those that the most phones showed are included.
    private static func tallies(_ key: EventKey, beside sent: [Int], within reach: AppReach) -> PostgresQuery {
        """
        with told as (
            select app, apns_timestamp, clock_ahead, shown_at,
                coalesce(abs(clock_ahead) <= \(ReceiptReport.maximumClockError),
                    shown_at <= received_at + make_interval(secs => \(ReceiptReport.rounding))) as is_clock_known
            from receipts where event_key = \(key.rawValue)
        ), counts as (
            select app, apns_timestamp, is_clock_known, case when is_clock_known
                    then to_timestamp(floor(extract(epoch from shown_at)::float8 * 10) / 10)
                    else to_timestamp(0) end as shown_at,
                count(*) as n
            from told group by 1, 2, 3, 4
        ), messages as (
            select m.app, m.apns_timestamp, s.at is not null as is_sent,
                row_number() over (partition by m.app, s.at is not null order by m.n desc, m.apns_timestamp desc) as place
            from (select app, apns_timestamp, sum(n) as n from counts group by 1, 2) m
            left join unnest(\(sent)) as s(at) on s.at = m.apns_timestamp
        )
        select l.bundle_id, l.environment, c.apns_timestamp, c.is_clock_known, c.shown_at, c.n
        from counts c join messages m on m.app = c.app and m.apns_timestamp = c.apns_timestamp
        join app_environments l on l.id = c.app
        where (m.is_sent or m.place <= \(ReceiptBounds.otherMessages)) and \(EventReach.covers(reach, lane: "l"))
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
