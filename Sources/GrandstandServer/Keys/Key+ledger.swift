internal import FoundationEssentials
internal import Grandstand
internal import Postgres

extension PostgresKeyStore: KeyLedger {
    func create(_ draft: KeyDraft, by actor: AuditActor, now: Date) async throws -> IssuedKey {
        guard !draft.lacksApp else { throw Problem(.invalidRequest, KeyDraft.appRule) }
        guard !draft.mayNotHavePrefix else { throw Problem(.invalidRequest, KeyDraft.prefixRule) }
        var draft = draft
        draft.reach = try await registered(draft.reach)
        let issued = Self.issue(draft, now: now)
        try await database.transaction { connection in
            try await Self.requireFree(issued.key.reach, now: now, on: connection)
            try await Self.insert(issued, .keyCreated, AuditRows(by: actor, at: now), on: connection)
        }
        return issued
    }

    /// Refuses a prefix that overlaps the prefix of keys of other apps, because an event key with both prefixes would
    /// belong to both.
    private static func requireFree(_ reach: AppReach, now: Date, on connection: PostgresConnection) async throws {
        guard let prefix = reach.eventKeyPrefix?.rawValue else { return }
        // This lock makes two creations at the same time check one after the other.
        try await connection.query("lock table api_keys in share row exclusive mode")
        let overlapping = try await connection.query(
            """
            \(selection) where (starts_with(event_key_prefix, \(prefix)) or starts_with(\(prefix), event_key_prefix))
                and \(isActive(at: now))
            """
        ).map(key)
        guard let other = overlapping.first(where: { $0.reach.topics != reach.topics }) else { return }
        throw Problem.invalid(
            "The prefix overlaps that of another key.", at: "/eventKeyPrefix",
            "The key \(other.name) is for \(other.reach.text). Revoke it, bind this key to the same apps, or choose a "
                + "prefix that neither begins with the other nor is its beginning.")
    }

    func keys(within reach: AppReach, _ page: PageRequest) async throws -> Page<KeyListing> {
        let part = try TimePage(page, by: "k.created_at", "k.id", newestFirst: true)
        let rows = try await database.query(
            "\(Self.listing) where \(ReachColumns.isWithin(reach, of: "k")) and \(part.condition) \(part.order)")
        return part.page(try rows.map(Self.listed)) { ($0.key.createdAt, $0.key.id) }
    }

    func key(_ id: UUID) async throws -> KeyListing? {
        try await database.query("\(Self.listing) where k.id = \(id)").first.map(Self.listed)
    }

    func rotate(_ id: UUID, overlapEnds: Date, by actor: AuditActor, now: Date) async throws -> IssuedKey? {
        try await database.transaction { connection in
            let rows = try await connection.query(
                """
                \(Self.selection) where id = \(id) and revoked_at is null and replaced_by is null
                    and (expires_at is null or expires_at > \(now))
                for update
                """)
            guard let old = try rows.first.map(Self.key) else { return nil }
            // The new key expires at the time at which the old key would have expired, so rotation does not prolong a
            // limited key.
            let issued = Self.issue(
                KeyDraft(name: old.name, scopes: old.scopes, reach: old.reach, expiresAt: old.expiresAt), now: now
            )
            try await Self.insert(issued, .keyRotated, AuditRows(by: actor, at: now), on: connection)
            try await connection.query(
                """
                update api_keys set replaced_by = \(issued.key.id), expires_at = least(expires_at, \(overlapEnds))
                where id = \(id)
                """)
            return issued
        }
    }

    func used(_ uses: [UUID: Date]) async throws {
        let uses = uses.sorted { $0.key.uuidString < $1.key.uuidString }
        try await database.query(
            """
            with locked as (
                select id from api_keys where id = any(\(uses.map(\.key))) order by id for no key update
            )
            update api_keys k set used_at = r.used_at
            from unnest(\(uses.map(\.key)), \(uses.map(\.value))) as r(key, used_at) join locked l on l.id = r.key
            where k.id = l.id and (k.used_at is null or k.used_at < r.used_at)
            """)
    }

    private static func issue(_ draft: KeyDraft, now: Date) -> IssuedKey {
        let secret = makeSecret()
        let key = APIKey(
            id: UUID(), name: draft.name, scopes: draft.scopes, reach: draft.reach,
            prefix: String(secret.prefix(9)), createdAt: now, revokedAt: nil, expiresAt: draft.expiresAt)
        return IssuedKey(key: key, secret: secret)
    }

    private static func insert(
        _ issued: IssuedKey, _ action: AuditAction, _ audit: AuditRows, on connection: PostgresConnection
    ) async throws {
        let key = issued.key
        let scopeNames = key.scopes.map(\.rawValue).sorted()
        try await connection.query(
            """
            with created as (
                insert into api_keys (id, name, secret_hash, prefix, scopes, apps, event_key_prefix, created_at,
                    expires_at)
                values (\(key.id), \(key.name), \(SecretHash(of: issued.secret).bytes), \(key.prefix),
                    \(scopeNames)::text[]::key_scope[], \(ReachColumns.value(key.reach)),
                    \(key.reach.eventKeyPrefix?.rawValue), \(key.createdAt), \(key.expiresAt))
            )
            \(audit.insert(
                action, .init(bundleID: key.reach.onlyApp),
                reason: "\(key.name) (\(key.prefix)…): \(scopeNames), \(key.reach.text)"))
            """)
    }

    private static let listing: PostgresQuery = """
        select k.id, k.name, k.secret_hash, k.scopes::text[] as scopes, k.apps, k.event_key_prefix, k.prefix, k.created_at,
            k.revoked_at, k.expires_at, k.replaced_by, k.used_at
        from api_keys k
        """

    private static func listed(_ row: PostgresRow) throws -> KeyListing {
        KeyListing(key: try key(row), lastUsedAt: try row.decode("used_at"))
    }
}
