internal import APNsWire
package import Grandstand
internal import Postgres

extension PostgresInstallationStore {
    package func statistics(of app: AppEnvironment) async throws -> InstallationStatistics {
        let number = Int32(try await numbers.number(of: app, isFresh: true))
        var statistics = InstallationStatistics()
        let rows = try await reading.query(
            """
            select system_version / 1000 as major, count(*) as n,
                count(*) filter (where not live_activities_enabled) as disabled,
                count(*) filter (where not frequent_pushes_enabled) as infrequent
            from installations where app = \(number) group by 1
            """)
        for row in rows {
            let count: Int = try row.decode("n")
            statistics.installations += count
            statistics.systems[try row.decode("major")] = count
            statistics.liveActivitiesDisabled += try row.decode(Int.self, "disabled")
            statistics.frequentPushesDisabled += try row.decode(Int.self, "infrequent")
        }
        let languages = try await reading.query(
            """
            select lower(split_part(translate(coalesce(locale, 'und'), '_', '-'), '-', 1)) as language, count(*) as n
            from installations where app = \(number) group by 1 order by 2 desc, 1
            limit \(InstallationStatistics.maximumNames)
            """)
        for row in languages { statistics.locales[try row.decode("language")] = try row.decode("n") }
        let types = try await reading.query(
            """
            select attributes_type, count(*) filter (where suspect_since is null) as active,
                count(*) filter (where suspect_since is not null) as suspect
            from start_tokens where app = \(number) group by 1 order by count(*) desc, 1
            limit \(InstallationStatistics.maximumNames)
            """)
        for row in types { statistics.startTokens[try row.decode("attributes_type")] = try Self.tokens(row) }
        let shown = try await reading.query(
            """
            select count(*) filter (where a.suspect_since is null) as active,
                count(*) filter (where a.suspect_since is not null) as suspect
            from installations i cross join lateral (
                select suspect_since from activities
                where installation = i.id and update_token is not null and state in ('active', 'stale') offset 0) a
            where i.app = \(number)
            """)
        if let row = shown.first { statistics.updateTokens = try Self.tokens(row) }
        return statistics
    }

    private static func tokens(_ row: PostgresRow) throws -> InstallationStatistics.Tokens {
        InstallationStatistics.Tokens(active: try row.decode("active"), suspect: try row.decode("suspect"))
    }
}
