internal import APNsWire
package import FoundationEssentials
package import Grandstand
internal import Postgres

extension PostgresChannelStore {
    package func quotas(now: Date, retireAfter: TimeInterval) async throws -> [Quota] {
        let limits = try await database.query(
            """
            select a.bundle_id, ae.environment, a.channel_limit, ae.apple_count::bigint as apple_count,
                ae.apple_listed_at, ae.alarm, exists (
                    select from quirks q where q.bundle_id = ae.bundle_id and q.environment = ae.environment
                        and q.name = \(Quirk.Name.broadcastFeature.rawValue)
                        and q.value = \(Quirk.BroadcastFeature.off.rawValue)) as is_capability_off, (
                    select count(*) from unmanaged_channels u
                    where u.bundle_id = ae.bundle_id and u.environment = ae.environment) as unmanaged
            from apps a join app_environments ae using (bundle_id) order by a.bundle_id, ae.environment
            """)
        let counts = try await database.query(
            """
            select bundle_id, environment, state, storage_policy, event_key is null as without_event, count(*) as n
            from channels group by bundle_id, environment, state, storage_policy, without_event
            """)
        // An event without an end is taken to hold its channel for good; the forecast is then never too low.
        let spans = try await database.query(
            """
            select u.bundle_id, u.environment, coalesce(e.channels_open_at, e.created_at) as opens_at,
                coalesce(e.ended_at, e.ends_at) + make_interval(secs => \(retireAfter)) as closes_at
            from audiences u join events e on e.key = u.event_key
            where e.cancelled_at is null
                and coalesce(e.ended_at, e.ends_at, 'infinity') + make_interval(secs => \(retireAfter)) > \(now)
            """)

        var tallies: [Audience.Selector: Tally] = [:]
        for row in counts {
            let count: Int = try row.decode("n")
            let state: Channel.State = try row.word("state")
            let withoutEvent: Bool = try row.decode("without_event")
            var tally = tallies[try Self.selector(row), default: Tally()]
            tally.byState[state, default: 0] += count
            if state.countsAgainstQuota {
                tally.byStoragePolicy[try row.word("storage_policy"), default: 0] += count
                if withoutEvent { tally.withoutEvent += count }
            }
            tallies[try Self.selector(row)] = tally
        }
        for row in spans {
            let span = Forecast.Span(opensAt: try row.decode("opens_at"), closesAt: try row.decode("closes_at"))
            tallies[try Self.selector(row), default: Tally()].spans.append(span)
        }
        return try limits.map { row in
            let selector = try Self.selector(row)
            let limit: Int = try row.decode("channel_limit")
            let tally = tallies[selector] ?? Tally()
            let unmanaged: Int = try row.decode("unmanaged")
            let capacity = Quota.capacity(limit: limit, unmanaged: unmanaged)
            return Quota(
                bundleID: selector.bundleID, environment: selector.environment, limit: limit,
                byState: tally.byState, byStoragePolicy: tally.byStoragePolicy,
                forecast: Forecast(held: tally.withoutEvent, spans: tally.spans, limit: capacity, now: now),
                apple: try Self.listed(row), unmanaged: unmanaged,
                reconciliationAlarm: try row.optionalWord("alarm"),
                isCapabilityOff: try row.decode("is_capability_off"))
        }
    }

    private static func listed(_ row: PostgresRow) throws -> Quota.Listed? {
        guard let count = try row.decode(Int?.self, "apple_count"),
            let at = try row.decode(Date?.self, "apple_listed_at")
        else { return nil }
        return Quota.Listed(count: count, at: at)
    }

    private struct Tally {
        var byState: [Channel.State: Int] = [:]
        var byStoragePolicy: [StoragePolicy: Int] = [:]
        /// Channels that count and serve no event: they stay.
        var withoutEvent = 0
        var spans: [Forecast.Span] = []
    }

    private static func selector(_ row: PostgresRow) throws -> Audience.Selector {
        Audience.Selector(bundleID: try row.word("bundle_id"), environment: try row.word("environment"))
    }
}
