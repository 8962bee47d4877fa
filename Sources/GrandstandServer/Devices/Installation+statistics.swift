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
        let systems = try await reading.query(
            """
            select system_version / 1000 as major, count(*) as n,
                count(*) filter (where not live_activities_enabled) as disabled,
                count(*) filter (where not frequent_pushes_enabled) as infrequent
            from installations where app = \(number) group by 1
            """)
        let languages = try await reading.query(
            """
            select lower(split_part(translate(coalesce(locale, 'und'), '_', '-'), '-', 1)) as language, count(*) as n
            from installations where app = \(number) group by 1 order by 2 desc, 1 limit \(Self.maximumNames)
            """)
        let types = try await reading.query(
            """
            select attributes_type, count(*) filter (where suspect_since is null) as active,
                count(*) filter (where suspect_since is not null) as suspect
            from start_tokens where app = \(number) group by 1 order by count(*) desc, 1 limit \(Self.maximumNames)
            """)
        let shown = try await reading.query(
            """
            select count(*) filter (where a.suspect_since is null) as active,
                count(*) filter (where a.suspect_since is not null) as suspect
            from installations i cross join lateral (
                select suspect_since from activities
                where installation = i.id and update_token is not null and state in ('active', 'stale') offset 0) a
            where i.app = \(number)
            """)
        func sum(_ column: String) throws -> Int { try systems.reduce(0) { try $0 + $1.decode(Int.self, column) } }
        return Contract.InstallationStatistics(
            installations: try sum("n"),
            systems: try systems.reduce(into: [:]) {
                $0[String(try $1.decode(Int.self, "major"))] = try $1.decode("n")
            },
            locales: try languages.reduce(into: [:]) { $0[try $1.decode("language")] = try $1.decode("n") },
            liveActivitiesDisabled: try sum("disabled"), frequentPushesDisabled: try sum("infrequent"),
            startTokens: try types.reduce(into: [:]) { $0[try $1.decode("attributes_type")] = try $1.read() },
            updateTokens: try shown.first?.read() ?? Contract.RegisteredTokens(active: 0, suspect: 0))
    }
}
