internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import Postgres

extension ChannelStore {
    /// The quota of every app, in both environments. Deleted channels are not counted.
    func quotas(now: Date, tenure: ChannelTenure) async throws -> [Quota] {
        let results = try await database.transaction { connection in
            try await connection.pipeline([
                Self.quotaRows(now: now), Self.spans(now: now), ThrottledApp.all(now: now),
            ])
        }
        // One statement (`spans`) both counts the channels and reads until when each is held, so the forecast is never
        // below the current use.
        let spans = try Dictionary(grouping: results[1]) { try $0.read(AppEnvironment.self) }
        let throttles = Dictionary(grouping: try results[2].read(ThrottledApp.self), by: \.app)
        return try results[0].map { row in
            var quota: Quota = try row.read()
            quota.throttles = throttles[quota.app] ?? []
            for span in spans[quota.app] ?? [] { try quota.add(span, tenure, now: now) }
            quota.forecast = Forecast(spans: quota.stays, limit: quota.capacity, now: now)
            return quota
        }
    }

    private static func quotaRows(now: Date) -> PostgresQuery {
        let isUnaccepted: PostgresQuery = "ae.unaccepted_at > \(now - AppStore.unacceptedLifetime)"
        return """
            select a.bundle_id as "bundleID", ae.environment, a.channel_limit as "limit",
                ae.apple_count::bigint as "apple.count", ae.apple_asked_at as "apple.at",
                ae.alarm as "reconciliationAlarm", ae.full_since as "fullSince", \(isCapabilityOff) as "isCapabilityOff", (
                    select count(*) from unmanaged_channels u
                    where u.bundle_id = ae.bundle_id and u.environment = ae.environment) as unmanaged,
                k.team_id as "keyRefused.teamId", k.key_id as "keyRefused.keyId", k.reason as "keyRefused.reason",
                k.since as "keyRefused.since",
                (ae.key_missing_at > \(now - AppStore.missingKeyLifetime)) is true as "isKeyMissing",
                case when \(isUnaccepted) then ae.unaccepted_since end as "unacceptedSince",
                (\(isUnaccepted) and ae.unaccepted_since <= \(now - 10)) is true as "isNothingAccepted",
                ae.quota_level as "notedLevel", \(InstallationTotals.columns(at: now))
            from apps a join app_environments ae using (bundle_id)
            left join lateral (
                select coalesce(ae.team_id, a.team_id) as team_id, coalesce(ae.key_id, a.key_id) as key_id,
                    ae.key_refused_reason as reason, ae.key_refused_since as since
                where \(AppStore.isKeyRefused)) k on true
            left join device_accounts d on d.app = ae.id
            order by a.bundle_id, ae.environment
            """
    }

    /// Every channel that is not deleted, with the fields that decide until when it is held. Then, without a state, the
    /// audiences without a channel in open events. Each will get a channel, immediately or when its event's channels
    /// open. An audience whose `end` was accepted gets none.
    private static func spans(now: Date) -> PostgresQuery {
        """
        select c.bundle_id as "bundleID", c.environment, c.state, c.storage_policy,
            case when c.state in ('retiring', 'deleting') then coalesce(c.next_attempt_at, \(now)) end as closes_at,
            e.created_at as "createdAt", \(course(now: now)),
            \(openLane) is not null as has_audience,
            greatest(c.needed_until, case when c.state in \(Channel.State.sql([.creating, .active]))
                then (
                select max(greatest(l.stored_until, (
                    select max(d.expires_at) from deliveries d
                    where d.lane = l.lane and d.settled_at is null and d.tokens is null and d.apns_expiration > 0)))
                from audiences l where l.channel = c.id) end) as needed_until
        from channels c left join lateral \(event) on true
        where c.state <> 'deleted'
        union all
        select u.bundle_id, u.environment, null, u.storage_policy, null, e.created_at, \(course(now: now)), true, null
        from \(unserved) and u.fenced_at is null
        """
    }

    /// The columns of `ChannelTenure.Dates` for an event `e`. The newest message is only looked up if the event might
    /// be closed automatically.
    private static func course(now: Date) -> PostgresQuery {
        """
        e.channels_open_at as "channelsOpenAt", e.starts_at as "startsAt", e.ends_at as "endsAt",
        coalesce(e.ended_at, e.cancelled_at) as "overAt",
        case when e.ended_at is null and e.cancelled_at is null and coalesce(e.ends_at <= \(now), true)
            then \(lastMessage) end as "lastMessageAt"
        """
    }

    /// Stores the quotas' levels that changed, if a webhook has the topic of quota levels, and writes the messages to
    /// webhooks with them. Of several replicas only the first finds the earlier level, so a change is reported once. The
    /// first level of an app is `ok`.
    func noteLevels(of quotas: [Quota], now: Date) async throws {
        for quota in quotas where quota.level != quota.notedLevel {
            let change = Contract.QuotaLevelChanged(
                bundleId: quota.bundleID.rawValue, environment: .init(quota.environment), level: quota.level,
                previousLevel: quota.notedLevel, limit: quota.limit, used: quota.used, reserved: quota.reserved,
                available: quota.available, unmanaged: quota.unmanaged)
            try await database.transaction { connection in
                let noted = try await connection.query(
                    """
                    update app_environments set quota_level = \(quota.level.rawValue)
                    where \(AppColumns.isOf(quota.app)) and quota_level = \(quota.notedLevel.rawValue)
                        and \(WebhookNews.isAwaited([.quotaLevel]))
                    """)
                if noted.affectedRows > 0 {
                    try await connection.query(
                        WebhookNews.message(.quotaLevel, about: change.bundleId, at: now, change))
                }
            }
        }
    }
}

extension Quota {
    /// Adds a row of `spans`.
    fileprivate mutating func add(_ row: PostgresRow, _ tenure: ChannelTenure, now: Date) throws {
        let state: Channel.State? = try row.optionalWord("state")
        let policy: StoragePolicy = try row.word("storage_policy")
        let isHeld = state?.countsAgainstQuota ?? false
        if let state { byState[state, default: 0] += 1 }
        if isHeld { byStoragePolicy[policy.rawValue, default: 0] += 1 }
        let hasEvent = try row.decode(Date?.self, "createdAt") != nil
        let course: ChannelTenure.Dates? = hasEvent ? try row.read() : nil
        // An intent that is no longer needed is left out, because the next alignment deletes it. An intent that is not
        // needed yet is counted from the time when its event's channels open: the next alignment deletes it, and a
        // later one inserts it again. A channel that has no event is not created again if it failed or is missing.
        let hasAudience: Bool = try row.decode("has_audience")
        guard isHeld || hasAudience && course?.overAt == nil else { return }
        var span = Forecast.Stay.openEnded(isHeld: isHeld, now: now)
        if let course, state != .deleting {
            span = tenure.span(
                course, hasAudience: hasAudience, isHeld: isHeld, storagePolicy: policy,
                neededUntil: try row.decode("needed_until"), now: now)
        }
        if let closesAt = try row.decode(Date?.self, "closes_at") { span.closesAt = closesAt }
        stays.append(span)
    }
}

/// Which samples to read.
struct HistoryQuery {
    var environment: APNsEnvironment?
    /// Only samples of these apps.
    var reach = AppReach.all
    /// Steps that end after `from` and begin before `to`. The last step may be incomplete.
    var from: Date
    var to: Date
    /// Seconds: a multiple of `fine`.
    var step: Int

    /// `fine` and `coarse`: seconds between two samples. `fineKept` and `coarseKept`: seconds for which these samples
    /// are kept. After `fineKept` only hourly samples remain.
    static let fine = 300
    static let fineKept: TimeInterval = 2 * 86_400
    static let coarse = 3_600
    static let coarseKept: TimeInterval = 400 * 86_400
    /// The most samples in one answer.
    static let maxSamples = 10_000

    /// Seconds between the samples that the steps are made of.
    var resolution: Int { step.isMultiple(of: Self.coarse) ? Self.coarse : Self.fine }

    /// The latest time that ends a step of `seconds` and is not after `now`.
    static func stepEnd(of seconds: Int, at now: Date) -> Date {
        Date(timeIntervalSince1970: (now.timeIntervalSince1970 / Double(seconds)).rounded(.down) * Double(seconds))
    }

    /// The finest step for which samples still exist and that gives at most a thousand samples.
    static func step(from: Date, to: Date, now: Date) -> Int {
        if now.timeIntervalSince(from) <= fineKept { return fine }
        return to.timeIntervalSince(from) / Double(coarse) <= 1_000 ? coarse : 86_400
    }
}

/// Samples of all quotas over time, in the table `quota_samples`. There is one sample for every five minutes and one
/// for every hour. The five-minute samples are kept only for days (`HistoryQuery.fineKept`), so that a long history
/// needs little space.
extension ChannelStore {
    /// Stores the quotas as samples of a time, and deletes samples past their retention. Each sample also changes the
    /// sample of its hour, so the present hour has one, too. If several replicas take the same sample, the last one stays.
    ///
    /// The numbers of created and deleted channels come from the audit log, so a step is complete even if a sample
    /// within it is missing. The audit log is read once for all apps, because the log of one step is small.
    ///
    /// - Parameter at: the end of a step.
    func keepSamples(of quotas: [Quota], at: Date) async throws {
        try await database.pipeline([
            """
            with t as materialized (
                select step, to_timestamp(ceil(extract(epoch from \(at)::timestamptz) / step) * step) as at
                from unnest(\([HistoryQuery.fine, HistoryQuery.coarse])) as step
            )
            insert into quota_samples as s
                (bundle_id, environment, step, at, used, reserved, peak, channel_limit, created, deleted)
            select ae.bundle_id, ae.environment, t.step, t.at, q.used, q.reserved, q.used + q.reserved,
                q.channel_limit, coalesce(c.created, 0), coalesce(c.deleted, 0)
            from unnest(\(quotas.map(\.bundleID.rawValue)), \(quotas.map(\.environment.rawValue)),
                \(quotas.map(\.used)), \(quotas.map(\.reserved)), \(quotas.map(\.limit)))
                as q(bundle_id, environment, used, reserved, channel_limit)
            join app_environments ae on ae.bundle_id = q.bundle_id and ae.environment = q.environment::environment
            cross join t
            left join (
                select t.step, l.bundle_id, l.environment,
                    count(*) filter (where action = 'channel.created') as created,
                    count(*) filter (where action = 'channel.deleted') as deleted
                from t join audit_log l on l.at > t.at - make_interval(secs => t.step) and l.at <= \(at)
                    and l.action in ('channel.created', 'channel.deleted')
                group by t.step, l.bundle_id, l.environment) c
                on c.step = t.step and c.bundle_id = ae.bundle_id and c.environment = ae.environment
            order by ae.bundle_id, ae.environment, t.step
            on conflict (bundle_id, environment, step, at) do update set used = excluded.used,
                reserved = excluded.reserved, peak = greatest(s.peak, excluded.peak),
                channel_limit = excluded.channel_limit, created = excluded.created, deleted = excluded.deleted
            """,
            """
            delete from quota_samples where step = \(HistoryQuery.fine) and at <= \(at - HistoryQuery.fineKept)
                or step = \(HistoryQuery.coarse) and at <= \(at - HistoryQuery.coarseKept)
            """,
        ])
    }

    /// Samples in order of app, environment and time. Steps without a sample are left out.
    func samples(_ history: HistoryQuery) async throws -> [Contract.QuotaSample] {
        let step = Double(history.step)
        let topics = history.reach.topics
        return try await database.query(
            """
            select bundle_id as "bundleId", environment,
                to_timestamp(ceil(extract(epoch from at) / \(step)) * \(step)) as at,
                (array_agg(used order by at desc))[1] as used, (array_agg(reserved order by at desc))[1] as reserved,
                max(peak) as peak, (array_agg(channel_limit order by at desc))[1] as "limit",
                sum(created)::bigint as created, sum(deleted)::bigint as deleted
            from quota_samples
            where step = \(history.resolution) and at > \(history.from)
                and at < \(history.to + TimeInterval(history.resolution))
                and (\(history.environment?.rawValue)::text is null
                    or environment = \(history.environment?.rawValue)::text::environment)
                and (\(topics)::text[] is null or lower(bundle_id) = any(\(topics)))
            group by 1, 2, 3 order by 1, 2, 3 limit \(HistoryQuery.maxSamples + 1)
            """
        ).read()
    }
}
