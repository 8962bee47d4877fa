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
                Self.limits(now: now), Self.spans(now: now), PostgresThrottles.throttles(now: now),
            ])
        }
        // One statement (`spans`) both counts the channels and reads until when each is held, so the forecast is never
        // below the current use.
        let spans = try Dictionary(grouping: results[1], by: AppColumns.app)
        let throttles = Dictionary(grouping: try results[2].read(Throttle.self), by: \.app)
        return try results[0].map { row in
            var quota: Quota = try row.read()
            quota.devices = try row.read()
            quota.isNothingAccepted = quota.unacceptedSince.map { $0 <= now - Quota.patience } ?? false
            quota.throttles = throttles[quota.place] ?? []
            for span in spans[quota.place] ?? [] { try quota.add(span, tenure, now: now) }
            quota.forecast = Forecast(spans: quota.spans, limit: quota.capacity, now: now)
            return quota
        }
    }

    private static func limits(now: Date) -> PostgresQuery {
        """
        select a.bundle_id as "bundleID", ae.environment, a.channel_limit as "limit",
            ae.apple_count::bigint as "apple.count", ae.apple_listed_at as "apple.at",
            ae.alarm as "reconciliationAlarm", ae.full_since as "fullSince", \(isCapabilityOff) as "isCapabilityOff", (
                select count(*) from unmanaged_channels u
                where u.bundle_id = ae.bundle_id and u.environment = ae.environment) as unmanaged,
            k.team_id as "keyRefused.teamId", k.key_id as "keyRefused.keyId", k.reason as "keyRefused.reason",
            k.since as "keyRefused.since",
            coalesce(ae.key_missing_at > \(now.addingTimeInterval(-AppStore.missingKeyLifetime)), false)
                as "isKeyMissing",
            case when ae.unaccepted_at > \(now.addingTimeInterval(-AppStore.unacceptedLifetime))
                then ae.unaccepted_since end as "unacceptedSince",
            coalesce(d.installations, 0) as installations, coalesce(d.created, 0) as created,
            coalesce(d."createdBefore", 0) as "createdBefore"
        from apps a join app_environments ae using (bundle_id)
        left join lateral (
            select coalesce(ae.team_id, a.team_id) as team_id, coalesce(ae.key_id, a.key_id) as key_id,
                ae.key_refused_reason as reason, ae.key_refused_since as since
            where \(AppStore.isKeyRefused)) k on true
        left join lateral (\(DeviceAccount.load("array[ae.id]", at: now))) d on true
        order by a.bundle_id, ae.environment
        """
    }

    /// Every channel that is not deleted, with the fields that decide until when it is held. Then, without a state, the
    /// audiences without a channel in open events. Each will get a channel, immediately or when its event's channels
    /// open. An audience whose `end` was accepted gets none.
    private static func spans(now: Date) -> PostgresQuery {
        """
        select c.bundle_id, c.environment, c.state, c.storage_policy, c.retire_at, c.next_attempt_at,
            e.created_at as "createdAt", \(course(now: now)),
            case when e.key is null then null else \(openLane) is not null end as has_audience,
            greatest(c.needed_until, case when c.state in \(Channel.State.sql([.creating, .active]))
                then (
                select max(greatest(l.stored_until, (
                    select max(d.expires_at) from deliveries d
                    where d.lane = l.lane and d.settled_at is null and d.tokens is null and d.apns_expiration > 0)))
                from audiences l where l.channel = c.id) end) as needed_until
        from channels c left join lateral \(event) on true
        where c.state <> 'deleted'
        union all
        select u.bundle_id, u.environment, null, u.storage_policy, null, null, e.created_at, \(course(now: now)), true,
            null
        from events e cross join lateral (select * from audiences where event_key = e.key offset 0) u
        where e.ended_at is null and e.cancelled_at is null and u.fenced_at is null
            and \(AudienceColumns.wantsChannel("u"))
            and (select true from channels c where c.event_key = u.event_key
                and \(AudienceColumns.serves("c", "u"))
                and c.state in \(Channel.State.sql(.servesAudience)) limit 1) is null
        """
    }

    /// The columns of `ChannelTenure.Course` for an event `e`. The newest message is only looked up if the event might
    /// be closed automatically.
    private static func course(now: Date) -> PostgresQuery {
        """
        e.channels_open_at as "channelsOpenAt", e.starts_at as "startsAt", e.ends_at as "endsAt",
        coalesce(e.ended_at, e.cancelled_at) as "overAt",
        case when e.ended_at is null and e.cancelled_at is null and coalesce(e.ends_at <= \(now), true)
            then \(lastMessage) end as "lastMessageAt"
        """
    }

    /// Stores the quotas' levels, if a webhook has the topic of quota levels, so that a change is reported once, by one
    /// replica. For each level that changed, the messages to webhooks are written in the same transaction. The previous
    /// level of an app that was never seen before is `ok`.
    func noteLevels(of quotas: [Quota], now: Date) async throws {
        try await database.transaction { connection in
            let changed = try await connection.query(
                """
                with changed as (
                    -- Another replica that reports the change waits here, and then finds the new level.
                    select ae.bundle_id, ae.environment, ae.quota_level, q.level
                    from unnest(\(quotas.map(\.bundleID.rawValue)), \(quotas.map(\.environment.rawValue)),
                        \(quotas.map(\.level.rawValue))) as q(bundle_id, environment, level)
                    join app_environments ae
                        on ae.bundle_id = q.bundle_id and ae.environment = q.environment::environment
                    where ae.quota_level <> q.level and \(WebhookNews.isAwaited([.quotaLevel]))
                    order by ae.bundle_id, ae.environment for no key update of ae
                )
                update app_environments ae set quota_level = c.level from changed c
                where ae.bundle_id = c.bundle_id and ae.environment = c.environment
                returning ae.bundle_id, ae.environment, c.quota_level
                """)
            for row in changed {
                let app = try AppColumns.app(row)
                guard let quota = quotas.first(where: { $0.place == app }).map(Contract.Quota.init) else { continue }
                let change = Contract.QuotaLevelChanged(
                    bundleId: quota.bundleId, environment: quota.environment, level: quota.level,
                    previousLevel: .init(rawValue: try row.decode("quota_level")), limit: quota.limit, used: quota.used,
                    reserved: quota.reserved, available: quota.available, unmanaged: quota.unmanaged)
                try await connection.query(WebhookNews.message(.quotaLevel, about: quota.bundleId, at: now, change))
            }
        }
    }
}

extension Quota {
    /// Adds a row of `spans`.
    fileprivate mutating func add(_ row: PostgresRow, _ tenure: ChannelTenure, now: Date) throws {
        guard let state: Channel.State = try row.optionalWord("state") else {
            let course: ChannelTenure.Course = try row.read()
            return spans.append(tenure.span(course, storagePolicy: try row.word("storage_policy"), now: now))
        }
        byState[state, default: 0] += 1
        if state.countsAgainstQuota { byStoragePolicy[try row.word("storage_policy"), default: 0] += 1 }
        var span = Forecast.Span.open(isHeld: state.countsAgainstQuota, now: now)
        let hasEvent = try row.decode(Date?.self, "createdAt") != nil
        switch (state, hasEvent ? try row.read(ChannelTenure.Course.self) : nil) {
        case (.deleting, _): span.closesAt = try row.decode(Date?.self, "next_attempt_at") ?? now
        case (_, let course?):
            // An intent that is no longer needed is left out, because the next alignment deletes it. An intent that is
            // not needed yet is counted from the time when its event's channels open: the next alignment deletes it,
            // and a later one inserts it again.
            let hasAudience: Bool = try row.decode("has_audience")
            guard state.countsAgainstQuota || hasAudience && course.overAt == nil else { return }
            span = tenure.span(
                course, hasAudience: hasAudience, isHeld: state.countsAgainstQuota,
                storagePolicy: try row.word("storage_policy"), neededUntil: try row.decode("needed_until"), now: now)
        // A channel that has no event is not created again if it failed or is missing.
        case (_, nil): guard state.countsAgainstQuota else { return }
        }
        if state == .retiring { span.closesAt = try row.decode("retire_at") }
        spans.append(span)
    }
}
