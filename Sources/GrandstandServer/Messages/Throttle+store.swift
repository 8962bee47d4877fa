internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import Postgres

/// The apps that APNs throttles, in `app_environments`.
extension ThrottledApp {
    /// Seconds after which a throttle is over if no replica stores it again.
    private static let lifetime: TimeInterval = 30
    /// Seconds between two times at which a throttle is stored, by all replicas together.
    private static let storeEvery: TimeInterval = 10

    /// Stores the limits that a replica has learned. Ends a throttle once no replica has a limit for it.
    /// Webhooks are told when the first replica is limited and when the last one no longer is.
    static func report(_ apps: [ThrottledApp], to database: Database, now: Date) async throws {
        try await database.pipeline(Contract.APNsAPI.allCases.map { report(apps, $0, now: now) })
    }

    private static func report(_ apps: [ThrottledApp], _ api: Contract.APNsAPI, now: Date) -> PostgresQuery {
        let limits = apps.filter { $0.api == api }
        let prefix: PostgresQuery = api == .broadcast ? "throttled" : "devices_throttled"
        return WebhookNews.messages(
            [.throttleBegan, .throttleEnded],
            with: """
                due as (
                    select ae.bundle_id, ae.environment, ae.\(prefix)_since as since, l.since as limited_since
                    from app_environments ae left join unnest(\(limits.map(\.app.bundleID.rawValue)),
                            \(limits.map(\.app.environment.rawValue)), \(limits.map(\.since)))
                            as l(bundle_id, environment, since)
                        on l.bundle_id = ae.bundle_id and l.environment = ae.environment::text
                    where case when l.since is null then ae.\(prefix)_at <= \(now - lifetime)
                        else coalesce(ae.\(prefix)_at <= \(now - storeEvery), true) end
                    order by ae.bundle_id, ae.environment for no key update of ae
                ), stored as (
                    update app_environments ae set
                        \(prefix)_since = case
                            when d.limited_since is not null then coalesce(d.since, d.limited_since) end,
                        \(prefix)_at = case when d.limited_since is not null then \(now)::timestamptz end
                    from due d where d.bundle_id = ae.bundle_id and d.environment = ae.environment
                ),
                """,
            """
            select case when d.since is null then 'throttle.began' else 'throttle.ended' end as topic,
                \(now)::timestamptz as at, array[d.bundle_id] as apps, (select row_to_json(m) from (
                    select d.bundle_id as "bundleId", d.environment, \(api.rawValue)::text as api,
                        \(WebhookNews.text("coalesce(d.since, d.limited_since)")) as since) m) as data
            from due d where d.since is null or d.limited_since is null
            """)
    }

    /// The statement that reads the throttled apps of all environments, with the lanes that wait for their turn.
    static func all(now: Date) -> PostgresQuery {
        """
        select ae.bundle_id as "app.bundleID", ae.environment as "app.environment", t.api, t.since, w.*
        from app_environments ae cross join lateral (values
            ('broadcast', ae.throttled_since, ae.throttled_at),
            ('device', ae.devices_throttled_since, ae.devices_throttled_at)) t(api, since, at)
        cross join lateral (
            select count(*) as "lanesWaiting",
                coalesce(extract(epoch from \(now)::timestamptz - min(w.at)), 0)::float8 as "oldestSeconds"
            from (select case t.api when 'broadcast' then l.due_at else l.tokens_due_at end as at from audiences l
                where l.environment = ae.environment and l.bundle_id = ae.bundle_id
                    and (l.due_at <= \(now) or l.tokens_due_at <= \(now))) w
            where w.at <= \(now)) w
        where t.at > \(now - lifetime)
        order by ae.bundle_id, ae.environment, t.api
        """
    }
}
