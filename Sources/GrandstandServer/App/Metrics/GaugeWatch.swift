internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import Postgres
internal import Synchronization

/// The gauges of the whole database: quotas, unsettled rows, the database's size, and the last reconciliations. Each
/// replica reads and reports them. The quotas that it reads are also compared with their last levels, and sampled.
///
/// Unknown values are not reported: after a failed reading, the last values are dropped. A hanging database fails it, too.
final class GaugeWatch: Sendable {
    let channels: ChannelStore
    /// How long events hold their channels, for the quota's forecast.
    let tenure: ChannelTenure
    /// The database's time.
    let now: @Sendable () -> Date
    private let lastReading = Mutex<[GaugeSample]>([])

    init(_ channels: ChannelStore, tenure: ChannelTenure, now: @escaping @Sendable () -> Date) {
        (self.channels, self.tenure, self.now) = (channels, tenure, now)
    }

    /// The values of the last reading; empty: they are unknown.
    var current: [GaugeSample] { lastReading.withLock(\.self) }

    /// The quotas are sampled again and again within 15 seconds after a sample is due. If no replica runs then, it is
    /// missing and is not added later.
    func look() async throws {
        let now = now()
        var samples: [GaugeSample] = []
        defer { lastReading.withLock { [samples] in $0 = samples } }
        let quotas = try await channels.quotas(now: now, tenure: tenure)
        samples = try await quotas.flatMap { $0.gauges(at: now) } + backlog(now: now)
        try await channels.noteLevels(of: quotas, now: now)
        let due = HistoryQuery.stepEnd(of: HistoryQuery.fine, at: now)
        if now.timeIntervalSince(due) <= 15 { try await channels.keepSamples(of: quotas, at: due) }
    }

    /// The work that waits now, and the database's size. Unsettled rows are counted by partial indexes, so the cost
    /// depends on the amount of this work, not on the amount of history.
    ///
    /// The oldest delivery is the one that could be sent and was accepted first, or whose `sendAt` was first; a quiet
    /// state could not be sent while it was held for its interval. Disabled webhooks do not count. Messages
    /// whose channel does not exist yet are ignored. Messages to tokens are ignored, too, because many tokens take long.
    /// A reconciliation's age counts from the end of the newest one; if there was none, from the app's registration.
    ///
    /// `offset 0` makes the planner look rows up by key, one by one, whatever sizes it assumes for the tables. `greatest`
    /// ignores NULL.
    func backlog(now: Date) async throws -> [GaugeSample] {
        let states = Contract.DeliveryState.allCases.filter { !$0.isSettled }.map(\.rawValue)
        return try await channels.database.query(
            """
            with pending as (
                select l.environment, d.state, count(*) as count,
                    min(case when d.state in ('queued', 'sending') and d.tokens is null
                        then greatest(b.accepted_at, b.send_at, case when d.attempts = 0 then d.next_attempt_at end)
                        end) as oldest
                from deliveries d
                cross join lateral (select environment from audiences where lane = d.lane offset 0) l
                cross join lateral (
                    select send_at, accepted_at from broadcasts where id = d.broadcast_id offset 0) b
                where d.settled_at is null group by l.environment, d.state),
            found (name, labels, value, since) as (
                select 'grandstand_deliveries_pending', array[e::text, s],
                    coalesce(p.count, 0)::float8, null::timestamptz
                from unnest(enum_range(null::environment)) e cross join unnest(\(states)::text[]) s
                left join pending p on p.environment = e and p.state::text = s
                union all
                select 'grandstand_delivery_oldest_seconds', array[e::text], 0, min(p.oldest)
                from unnest(enum_range(null::environment)) e
                left join pending p on p.environment = e group by e
                union all
                select 'grandstand_webhook_oldest_seconds', '{}', 0, min(m.created_at) from webhooks w
                cross join lateral (
                    select created_at from webhook_messages where webhook = w.id and settled_at is null
                    order by created_at limit 1) m
                where w.state = 'enabled'
                union all
                select 'grandstand_reconciliation_age_seconds',
                    array[ae.bundle_id, ae.environment::text], 0, coalesce(r.finished_at, a.created_at)
                from app_environments ae join apps a using (bundle_id)
                left join lateral (
                    select finished_at from reconciliations
                    where bundle_id = ae.bundle_id and environment = ae.environment
                    order by started_at desc, id desc limit 1) r on true
                union all
                select 'grandstand_database_bytes', '{}',
                    pg_database_size(current_database()), null
                union all
                select 'grandstand_database_dead_rows', array[relname], n_dead_tup, null from pg_stat_user_tables
                where relname in ('audiences', 'deliveries', 'activities', 'starts'))
            select name, labels,
                greatest(value, extract(epoch from \(now)::timestamptz - since)::float8) as value from found
            """
        ).map { (try $0.decode("name"), try $0.decode("labels"), try $0.decode("value")) }
    }
}

extension Quota {
    fileprivate func gauges(at now: Date) -> [GaugeSample] {
        let app = app.labels
        var samples: [GaugeSample] = Channel.State.allCases.filter { $0 != .deleted }.map { state in
            ("grandstand_channels", app + [state.rawValue], Double(byState[state, default: 0]))
        }
        samples += [
            ("grandstand_channel_limit", app, Double(limit)),
            ("grandstand_channels_forecast_peak", app, Double(forecast.peak)),
            ("grandstand_channels_unmanaged", app, Double(unmanaged)),
            ("grandstand_channels_missing", app, Double(missing)),
            ("grandstand_unaccepted_seconds", app, max(0, now.timeIntervalSince(unacceptedSince ?? now))),
            ("grandstand_installations", app, Double(devices.installations)),
            ("grandstand_installations_new", app, Double(devices.created)),
        ]
        if let exceedsAt = forecast.exceedsAt {
            samples.append(("grandstand_channels_exceed_seconds", app, max(0, exceedsAt.timeIntervalSince(now))))
        }
        for throttle in throttles {
            let labels = app + [throttle.api.rawValue]
            samples += [
                ("grandstand_send_waiting_lanes", labels, Double(throttle.lanesWaiting)),
                ("grandstand_send_waiting_oldest_seconds", labels, throttle.oldestSeconds),
            ]
        }
        let standing = Set(alarms)
        return samples
            + Contract.QuotaAlarm.allCases.map {
                ("grandstand_alarm", app + [$0.rawValue], standing.contains($0) ? 1 : 0)
            }
    }
}

extension SendRates {
    var gauges: [GaugeSample] {
        perSecond.map { bundleID, perSecond in
            ("grandstand_send_rate", [bundleID.rawValue, environment.rawValue, api.rawValue], perSecond)
        }
    }
}

extension DatabaseSession {
    var gauges: [GaugeSample] {
        PoolSizes.Pool.allCases.flatMap { pool in
            let (idle, busy) = self[pool].connections
            return [("idle", idle), ("busy", busy)].map { state, count in
                ("grandstand_database_connections", [pool.rawValue, state], Double(count))
            }
        }
    }
}
