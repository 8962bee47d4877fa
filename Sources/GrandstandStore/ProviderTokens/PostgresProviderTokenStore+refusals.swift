internal import APNsWire
package import Grandstand
internal import Postgres

/// Keys that APNs refuses, in the table `refused_keys`.
extension PostgresProviderTokenStore: KeyRefusalStore {
    package func note(_ refusal: KeyRefusal?, of use: KeyUse) async throws {
        let (team, key, environment) = (use.credentials.teamID, use.credentials.keyID, use.environment.rawValue)
        guard let refusal else {
            try await database.query(
                """
                delete from refused_keys
                where team_id = \(team) and key_id = \(key) and environment = \(environment)::environment
                """)
            return
        }
        // If APNs refuses the key for several replicas, the time of the earliest refusal counts.
        try await database.query(
            """
            insert into refused_keys as r (team_id, key_id, environment, reason, since)
            values (\(team), \(key), \(environment)::environment, \(refusal.reason.rawValue), \(refusal.since))
            on conflict (team_id, key_id, environment) do update
                set reason = excluded.reason, since = least(r.since, excluded.since)
            """)
    }

    package func refusals() async throws -> [KeyUse: KeyRefusal] {
        let rows = try await database.query("select team_id, key_id, environment, reason, since from refused_keys")
        return try Dictionary(
            rows.map { row in
                let use = KeyUse(
                    credentials: Credentials(teamID: try row.decode("team_id"), keyID: try row.decode("key_id")),
                    environment: try row.word("environment"))
                return (
                    use,
                    KeyRefusal(reason: APNsReason(rawValue: try row.decode("reason")), since: try row.decode("since"))
                )
            }, uniquingKeysWith: { first, _ in first })
    }
}
