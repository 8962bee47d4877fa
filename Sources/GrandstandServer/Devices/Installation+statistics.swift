internal import APNsWire
internal import Grandstand
internal import GrandstandContract
internal import Postgres

extension InstallationStore {
    /// The most languages and types that are listed. Apps choose their names, so there may be any number.
    private static let maximumNames = 100

    /// Counts of an app's installations in an environment: systems, locales, frequent pushes, tokens by state. The
    /// counts never list people.
    ///
    /// - Throws: `app-not-found`.
    func statistics(of app: AppEnvironment) async throws -> Contract.InstallationStatistics {
        let number = try await number(of: app)
        let tokens: PostgresQuery = """
            json_build_object('active', count(*) filter (where suspect_since is null),
                'suspect', count(*) filter (where suspect_since is not null))
            """
        return try await reading.query(
            """
            with systems as (
                select system_version / 1000 as name, count(*) as n,
                    count(*) filter (where not live_activities_enabled) as disabled,
                    count(*) filter (where not frequent_pushes_enabled) as infrequent
                from installations where app = \(number) group by 1),
            languages as (
                select lower(split_part(translate(coalesce(locale, 'und'), '_', '-'), '-', 1)) as name, count(*) as n
                from installations where app = \(number) group by 1 order by 2 desc, 1 limit \(Self.maximumNames)),
            types as (
                select attributes_type as name, \(tokens) as n from start_tokens where app = \(number)
                group by 1 order by count(*) desc, 1 limit \(Self.maximumNames))
            select coalesce(sum(n), 0)::bigint as installations,
                coalesce(json_object_agg(name, n), '{}') as systems,
                (select coalesce(json_object_agg(name, n), '{}') from languages) as locales,
                coalesce(sum(disabled), 0)::bigint as "liveActivitiesDisabled",
                coalesce(sum(infrequent), 0)::bigint as "frequentPushesDisabled",
                (select coalesce(json_object_agg(name, n), '{}') from types) as "startTokens", (
                    select \(tokens) from installations i cross join lateral (
                        select suspect_since from activities where installation = i.id
                            and update_token is not null and state in ('active', 'stale') offset 0) a
                    where i.app = \(number)) as "updateTokens"
            from systems
            """)[0].read()
    }
}
