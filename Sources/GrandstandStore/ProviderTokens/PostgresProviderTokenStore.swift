package import Grandstand
internal import Postgres

/// Provider tokens in the table `provider_tokens`. The table has a row for each key, and only one replica at a time
/// changes a row.
package struct PostgresProviderTokenStore: ProviderTokenStore {
    let database: Database

    package init(_ database: Database) { self.database = database }

    package func agree(
        on offer: SharedProviderToken, for key: ProviderTokenKey, replacing limit: Int
    ) async throws -> SharedProviderToken {
        // The row's lock admits one offer at a time. A second offer finds that the row now has a token issued after
        // `limit`, and uses that token.
        let rows = try await database.transaction { connection in
            let written = try await connection.query(
                """
                insert into provider_tokens as t (team_id, key_id, fingerprint, issued_at, sealed)
                values (\(key.credentials.teamID), \(key.credentials.keyID), \(key.fingerprint), \(offer.issuedAt),
                    \(offer.sealed))
                on conflict (team_id, key_id, fingerprint) do update
                    set issued_at = excluded.issued_at, sealed = excluded.sealed
                    where t.issued_at <= \(limit)
                returning issued_at, sealed
                """)
            guard written.isEmpty else { return written }
            return try await connection.query(
                """
                select issued_at, sealed from provider_tokens
                where team_id = \(key.credentials.teamID) and key_id = \(key.credentials.keyID)
                    and fingerprint = \(key.fingerprint)
                """)
        }
        // If there is no row, it was deleted after the first statement. Then the offer is used.
        guard let row = rows.first else { return offer }
        return SharedProviderToken(issuedAt: try row.decode("issued_at"), sealed: try row.decode("sealed"))
    }
}
