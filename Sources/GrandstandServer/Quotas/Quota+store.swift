internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import Postgres

extension ChannelStore {
    /// The quota of every app, in both environments. Deleted channels are not counted.
    package func quotas(now: Date, tenure: ChannelTenure) async throws -> [Quota] {
        let results = try await database.transaction { connection in
            try await connection.pipeline([
                Self.limits(now: now), Self.spans(now: now), PostgresThrottles.throttles(now: now),
            ])
        }
        var tallies: [AppEnvironment: Tally] = [:]
        // One statement (`spans`) both counts the channels and reads until when each is held, so the forecast is never
        // below the current use.
        for row in results[1] { try tallies[try Self.app(row), default: Tally()].add(row, tenure, now: now) }
        let throttles = Dictionary(grouping: try results[2].map { try PostgresThrottles.throttle($0) }, by: \.app)
        return try results[0].map { row in
            let app = try Self.app(row)
            let limit: Int = try row.decode("channel_limit")
            let tally = tallies[app] ?? Tally()
            let unmanaged: Int = try row.decode("unmanaged")
            let capacity = Quota.capacity(limit: limit, unmanaged: unmanaged)
            let unacceptedSince: Date? = try row.decode("unaccepted_since")
            return Quota(
                bundleID: app.bundleID, environment: app.environment, limit: limit,
                byState: tally.byState, byStoragePolicy: tally.byStoragePolicy,
                forecast: Forecast(spans: tally.spans, limit: capacity, now: now),
                course: Forecast.course(spans: tally.spans, limit: capacity, now: now),
                apple: try Self.listed(row), unmanaged: unmanaged,
                reconciliationAlarm: try row.optionalWord("alarm"),
                keyRefused: try Self.keyRefused(row), isCapabilityOff: try row.decode("is_capability_off"),
                fullSince: try row.decode("full_since"), isKeyMissing: try row.decode("is_key_missing"),
                unacceptedSince: unacceptedSince,
                isNothingAccepted: unacceptedSince.map { now.timeIntervalSince($0) >= Quota.patience } ?? false,
                throttles: throttles[app] ?? [], devices: try DeviceAccount(row))
        }
    }

    private static func limits(now: Date) -> PostgresQuery {
        """
        select a.bundle_id, ae.environment, a.channel_limit, ae.apple_count::bigint as apple_count,
            ae.apple_listed_at, ae.alarm, ae.full_since, \(isCapabilityOff) as is_capability_off, (
                select count(*) from unmanaged_channels u
                where u.bundle_id = ae.bundle_id and u.environment = ae.environment) as unmanaged,
            coalesce(ae.team_id, a.team_id) as team_id, coalesce(ae.key_id, a.key_id) as key_id,
            case when \(AppStore.isKeyRefused) then ae.key_refused_reason end as key_refused_reason, ae.key_refused_since,
            coalesce(ae.key_missing_at > \(now.addingTimeInterval(-AppStore.missingKeyLifetime)), false)
                as is_key_missing,
            case when ae.unaccepted_at > \(now.addingTimeInterval(-AppStore.unacceptedLifetime))
                then ae.unaccepted_since end as unaccepted_since,
            coalesce(d.installations, 0) as installations, coalesce(d.created, 0) as created,
            coalesce(d.created_before, 0) as created_before
        from apps a join app_environments ae using (bundle_id)
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
            e.created_at as event_created_at, \(course(now: now)),
            case when e.key is null then null else \(openLane) is not null end as has_audience,
            greatest(c.needed_until, case when c.state in \(Channel.State.sql([.servesAudience, .countsAgainstQuota]))
                then (
                select max(greatest(l.stored_until, (
                    select max(d.expires_at) from deliveries d
                    where d.lane = l.id and d.settled_at is null and d.tokens is null and d.apns_expiration > 0)))
                from lanes l where l.channel = c.id) end) as needed_until
        from channels c left join lateral \(event) on true
        where c.state <> 'deleted'
        union all
        select u.bundle_id, u.environment, null, u.storage_policy, null, null, e.created_at, \(course(now: now)), true,
            null
        from events e cross join lateral (select * from audiences where event_key = e.key offset 0) u
        cross join lateral (select fenced_at from lanes where id = u.lane offset 0) l
        where e.ended_at is null and e.cancelled_at is null and l.fenced_at is null
            and \(AudienceColumns.wantsChannel("u"))
            and (select true from channels c where c.event_key = u.event_key
                and \(AudienceColumns.servesOfEvent("c", "u"))
                and c.state in \(Channel.State.sql(.servesAudience)) limit 1) is null
        """
    }

    /// The columns of `ChannelTenure.Course` for an event `e`. The newest message is only looked up if the event might
    /// be closed automatically.
    private static func course(now: Date) -> PostgresQuery {
        """
        e.channels_open_at, e.starts_at, e.ends_at, coalesce(e.ended_at, e.cancelled_at) as over_at,
        case when e.ended_at is null and e.cancelled_at is null and coalesce(e.ends_at <= \(now), true)
            then \(lastMessage) end as last_message_at
        """
    }

    private static func listed(_ row: PostgresRow) throws -> Contract.AppleCount? {
        guard let count = try row.decode(Int?.self, "apple_count"),
            let at = try row.decode(Date?.self, "apple_listed_at")
        else { return nil }
        return Contract.AppleCount(count: count, at: at)
    }

    private static func keyRefused(_ row: PostgresRow) throws -> Quota.KeyRefused? {
        guard let reason = try row.decode(String?.self, "key_refused_reason") else { return nil }
        return Quota.KeyRefused(
            credentials: Credentials(teamID: try row.decode("team_id"), keyID: try row.decode("key_id")),
            refusal: KeyRefusal(reason: APNsReason(rawValue: reason), since: try row.decode("key_refused_since")))
    }

    private static func app(_ row: PostgresRow) throws -> AppEnvironment {
        AppEnvironment(bundleID: try row.word("bundle_id"), environment: try row.word("environment"))
    }
}

/// The channels that one app and environment has and will have.
private struct Tally {
    var byState: [Channel.State: Int] = [:]
    var byStoragePolicy: [StoragePolicy: Int] = [:]
    var spans: [Forecast.Span] = []

    mutating func add(_ row: PostgresRow, _ tenure: ChannelTenure, now: Date) throws {
        guard let state: Channel.State = try row.optionalWord("state") else {
            let course: ChannelTenure.Course = try row.read()
            return spans.append(tenure.span(course, storagePolicy: try row.word("storage_policy"), now: now))
        }
        byState[state, default: 0] += 1
        if state.countsAgainstQuota { byStoragePolicy[try row.word("storage_policy"), default: 0] += 1 }
        var span = Forecast.Span.open(isHeld: state.countsAgainstQuota, now: now)
        switch (state, try Self.course(row)) {
        case (.deleted, _): return
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

    /// - Returns: `nil` for a channel without an event.
    private static func course(_ row: PostgresRow) throws -> ChannelTenure.Course? {
        try row.decode(Date?.self, "event_created_at") == nil ? nil : try row.read()
    }
}
