internal import Cryptography
internal import FoundationEssentials
internal import Grandstand
internal import Postgres

/// API keys in the table `api_keys`. The table has no secrets, only their SHA-256 hashes; a secret has 256 random bits.
struct PostgresKeyStore: KeyStore {
    let database: Database

    init(_ database: Database) { self.database = database }

    /// The reach with the apps' bundle IDs as they were registered.
    ///
    /// - Throws: `app-not-found`.
    func registered(_ reach: AppReach) async throws -> AppReach {
        guard let apps = reach.apps else { return reach }
        let registered = try await ReachColumns.registered(apps, on: database) { missing in
            Problem(.appNotFound, "There is no app \(missing). Register it first, or leave the app out.")
        }
        return AppReach(of: Array(registered), eventKeyPrefix: reach.eventKeyPrefix)
    }

    func authenticate(_ secret: String) async throws -> APIKey? {
        let hash = SecretHash(of: secret)
        return try await keys(hashes: [hash])[hash]
    }

    /// The valid keys among those with these hashes.
    func keys(hashes: [SecretHash]) async throws -> [SecretHash: APIKey] {
        let texts = hashes.map { Base64URL.text($0.bytes) }
        return try Self.byHash(
            try await database.query(
                """
                \(Self.selection) where \(Self.isValid) and secret_hash = any(
                    select decode(rpad(translate(t, '-_', '+/'), 44, '='), 'base64') from unnest(\(texts)::text[]) t)
                """))
    }

    func validKeys() async throws -> [SecretHash: APIKey] {
        try Self.byHash(try await database.query("\(Self.selection) where \(Self.isValid)"))
    }

    private static func byHash(_ rows: PostgresRows) throws -> [SecretHash: APIKey] {
        var keys: [SecretHash: APIKey] = [:]
        for row in rows {
            guard let hash = SecretHash(try row.decode("secret_hash")) else { continue }
            keys[hash] = try key(row)
        }
        return keys
    }

    func revoke(_ id: UUID, disablingWebhooks: Bool, by actor: AuditActor, now: Date) async throws -> Bool {
        try await database.transaction { connection in
            let rows = try await connection.query(
                """
                update api_keys set revoked_at = \(now) where id = \(id) and revoked_at is null
                returning name, prefix, apps
                """)
            let audit = AuditRows(by: actor, at: now)
            var entries: [PostgresQuery] = []
            if let row = rows.first {
                let (name, prefix): (String, String) = (try row.decode("name"), try row.decode("prefix"))
                entries.append(
                    audit.insert(
                        .keyRevoked, .init(bundleID: try ReachColumns.read(row).onlyApp),
                        reason: "\(name) (\(prefix)…)"))
            }
            if disablingWebhooks {
                entries += try await PostgresWebhookStore.disable(declaredBy: id, now: now, on: connection)
                    .map { PostgresWebhookStore.audit(.webhookDisabled, $0, by: actor, now: now) }
            }
            if !entries.isEmpty { try await connection.pipeline(entries) }
            return !entries.isEmpty
        }
    }

    /// `gs_` and 43 characters of base64url: 256 random bits, recognisable by secret scanners.
    static func makeSecret() -> String {
        "gs_" + Base64URL.text(randomBytes(32))
    }

    private static let isValid: PostgresQuery = "revoked_at is null and (expires_at is null or expires_at > now())"

    static func isActive(at now: Date) -> PostgresQuery {
        "revoked_at is null and (expires_at is null or expires_at > \(now))"
    }

    static let selection: PostgresQuery = """
        select id, name, secret_hash, scopes::text[] as scopes, apps, event_key_prefix, prefix, created_at, revoked_at,
            expires_at, replaced_by
        from api_keys
        """

    static func key(_ row: PostgresRow) throws -> APIKey {
        let scopes: [String] = try row.decode("scopes")
        var reach = try ReachColumns.read(row)
        reach.eventKeyPrefix = try row.optionalWord("event_key_prefix")
        return APIKey(
            id: try row.decode("id"), name: try row.decode("name"),
            scopes: Set(scopes.compactMap(APIKey.Scope.init)), reach: reach,
            prefix: try row.decode("prefix"), createdAt: try row.decode("created_at"),
            revokedAt: try row.decode("revoked_at"), expiresAt: try row.decode("expires_at"),
            replacedBy: try row.decode("replaced_by"))
    }
}
