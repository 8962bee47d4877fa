internal import Cryptography
package import FoundationEssentials
package import Grandstand
package import GrandstandContract
internal import Postgres

/// Keys in the table `api_keys`.
extension KeyStore {
    /// Creates a key and returns its secret. The secret cannot be read again.
    ///
    /// - Throws: `app-not-found` for a key that is bound to an unknown app; `invalid-request` for a `device` key that
    ///   is not bound to exactly one app, and for a prefix on a key with other scopes than `organise`.
    package func create(
        _ draft: Contract.KeyDraft, by actor: AuditActor, now: Date
    ) async throws -> Contract.IssuedKey {
        guard !draft.lacksApp else { throw Problem(.invalidRequest, Contract.KeyDraft.appRule) }
        guard !draft.mayNotHavePrefix else { throw Problem(.invalidRequest, Contract.KeyDraft.prefixRule) }
        let reach = try await registered(draft.reach)
        return try await database.transaction { connection in
            try await Self.requireFree(reach, now: now, on: connection)
            return try await Self.issue(draft, for: reach, .keyCreated, AuditRows(by: actor, at: now), on: connection)
        }
    }

    /// The reach with the apps' bundle IDs as they were registered.
    ///
    /// - Throws: `app-not-found`.
    private func registered(_ reach: AppReach) async throws -> AppReach {
        guard let apps = reach.apps else { return reach }
        let registered = try await ReachColumns.registered(apps, on: database) { missing in
            Problem(.appNotFound, "There is no app \(missing). Register it first, or leave the app out.")
        }
        return AppReach(of: Array(registered), eventKeyPrefix: reach.eventKeyPrefix)
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

    /// Keys with their last use, the newest first. A last use is stored every few seconds, so it may be some seconds
    /// old.
    ///
    /// - Parameter reach: only keys whose own reach is inside this reach.
    /// - Throws: `invalid-request` for an invalid cursor.
    package func keys(within reach: AppReach, _ page: PageRequest, now: Date) async throws -> Contract.KeyPage {
        let part = try TimePage(page, by: "k.created_at", "k.id", newestFirst: true)
        let rows = try await database.query(
            """
            select \(Self.columns(at: now)) from api_keys k
            where \(ReachColumns.isWithin(reach, of: "k")) and \(part.condition) \(part.order)
            """)
        return part.page(try rows.read()) { ($0.createdAt, $0.id) }
    }

    /// - Returns: `nil`: there is no such key whose own reach is inside `reach`.
    func key(_ id: UUID, within reach: AppReach = .all, now: Date) async throws -> Contract.Key? {
        try await database.query(
            """
            select \(Self.columns(at: now)) from api_keys k where k.id = \(id) and \(ReachColumns.isWithin(reach, of: "k"))
            """
        ).read(Contract.Key.self).first
    }

    /// Creates a key with the same name, scopes, apps and prefix. The old key is valid until `overlapEnds`, or until
    /// its own expiry if that is earlier.
    ///
    /// - Returns: the new key; `nil` if there is no active key with this ID, or if it was already replaced.
    package func rotate(
        _ id: UUID, overlapEnds: Date, by actor: AuditActor, now: Date
    ) async throws -> Contract.IssuedKey? {
        try await database.transaction { connection in
            let rows = try await connection.query(
                "\(Self.selection) where id = \(id) and replaced_by is null and \(Self.isActive(at: now)) for update")
            guard let old = try rows.first.map(Self.key) else { return nil }
            // The new key expires at the time at which the old key would have expired, so rotation does not prolong a
            // limited key.
            let draft = Contract.KeyDraft(name: old.name, scopes: Array(old.scopes), expiresAt: old.expiresAt)
            let issued = try await Self.issue(
                draft, for: old.reach, .keyRotated, AuditRows(by: actor, at: now), on: connection)
            try await connection.query(
                """
                update api_keys set replaced_by = \(issued.id)::text::uuid,
                    expires_at = least(expires_at, \(overlapEnds))
                where id = \(id)
                """)
            return issued
        }
    }

    /// Revokes a key.
    ///
    /// - Parameter disablingWebhooks: also disables the webhooks that the key declared, even if the key is already
    ///   revoked.
    /// - Returns: whether the call changed anything: the key was not revoked yet, or a webhook was enabled.
    package func revoke(_ id: UUID, disablingWebhooks: Bool, by actor: AuditActor, now: Date) async throws -> Bool {
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
                entries += try await WebhookStore.disable(declaredBy: id, by: actor, now: now, on: connection)
            }
            if !entries.isEmpty { try await connection.pipeline(entries) }
            return !entries.isEmpty
        }
    }

    /// Records when keys were last used. A time before the recorded one changes nothing. A deleted key is no error.
    func write(_ uses: [UUID: Date]) async throws {
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

    private static func issue(
        _ draft: Contract.KeyDraft, for reach: AppReach, _ action: Contract.AuditAction, _ audit: AuditRows,
        on connection: PostgresConnection
    ) async throws -> Contract.IssuedKey {
        let secret = makeSecret()
        let scopes = Set(draft.scopes).map(\.rawValue).sorted()
        let rows = try await connection.query(
            """
            insert into api_keys as k (id, name, secret_hash, prefix, scopes, apps, event_key_prefix, created_at,
                expires_at)
            values (\(UUID()), \(draft.name), \(SecretHash(of: secret)), \(String(secret.prefix(9))),
                \(scopes)::text[]::key_scope[], \(ReachColumns.value(reach)), \(reach.eventKeyPrefix?.rawValue),
                \(audit.now), \(draft.expiresAt))
            returning \(columns(at: audit.now))
            """)
        let key: Contract.Key = try rows[0].read()
        try await connection.query(
            audit.insert(
                action, .init(bundleID: reach.onlyApp),
                reason: "\(key.name) (\(key.prefix)…): \(scopes), \(reach.text)"))
        return Contract.IssuedKey(secret: secret, key)
    }

    /// `gs_` and 43 characters of base64url: 256 random bits, recognisable by secret scanners.
    static func makeSecret() -> String {
        "gs_" + Base64URL.text(randomBytes(32))
    }

    /// The columns of a `Contract.Key`, with its state at `now`.
    private static func columns(at now: Date) -> PostgresQuery {
        """
        k.id, k.name, k.scopes::text[] as scopes, case when cardinality(k.apps) = 1 then k.apps[1] end as "bundleId",
        k.apps as "bundleIds", k.event_key_prefix as "eventKeyPrefix", k.prefix,
        case when k.revoked_at is not null then 'revoked' when k.expires_at <= \(now) then 'expired' else 'active' end
            as state,
        k.created_at as "createdAt", k.expires_at as "expiresAt", k.revoked_at as "revokedAt",
        k.replaced_by as "replacedBy", k.used_at as "lastUsedAt"
        """
    }
}

/// The keys of requests.
extension KeyStore {
    static func validKeys(on database: Database, at now: Date) async throws -> [SecretHash: APIKey] {
        var keys: [SecretHash: APIKey] = [:]
        for row in try await database.query("\(selection) where \(isActive(at: now))") {
            keys[try row.decode("secret_hash")] = try key(row)
        }
        return keys
    }

    static func isActive(at now: Date) -> PostgresQuery {
        "revoked_at is null and (expires_at is null or expires_at > \(now))"
    }

    private static let selection: PostgresQuery = """
        select id, name, secret_hash, scopes::text[] as scopes, apps, event_key_prefix, expires_at, replaced_by
        from api_keys
        """

    private static func key(_ row: PostgresRow) throws -> APIKey {
        let scopes: [String] = try row.decode("scopes")
        var reach = try ReachColumns.read(row)
        reach.eventKeyPrefix = try row.optionalWord("event_key_prefix")
        return APIKey(
            id: try row.decode("id"), name: try row.decode("name"),
            // A scope of a newer version opens nothing here.
            scopes: Set(scopes.map(Contract.Scope.init(rawValue:))).intersection(Contract.Scope.allCases),
            reach: reach, expiresAt: try row.decode("expires_at"), replacedBy: try row.decode("replaced_by"))
    }
}

extension Contract.KeyDraft {
    /// The apps and events that the key will reach.
    var reach: AppReach {
        AppReach(
            of: (bundleIds ?? bundleId.map { [$0] })?.compactMap(BundleID.init),
            eventKeyPrefix: eventKeyPrefix.flatMap(EventKey.init))
    }

    /// Whether a `device` key is not bound to exactly one app. Anybody can extract the key from the app, so it must not
    /// open another app.
    var lacksApp: Bool { scopes.contains(.device) && reach.onlyApp == nil }

    /// Whether the prefix is not allowed. Only calls on events check the prefix, so the key may have no scope but
    /// `organise`.
    var mayNotHavePrefix: Bool { eventKeyPrefix != nil && Set(scopes) != [.organise] }

    /// The error text for a key whose prefix is not allowed (`mayNotHavePrefix`).
    static let prefixRule =
        "A key with a prefix of event keys can have only the scope organise. Leave the other scopes or the prefix out."

    /// The error text for a `device` key that is not bound to exactly one app (`lacksApp`).
    static let appRule =
        "A key with the scope device must be bound to exactly one app. Give one bundle ID."
}

extension Contract.Key {
    /// The apps and events that the key reaches.
    package var reach: AppReach {
        AppReach(of: bundleIds?.compactMap(BundleID.init), eventKeyPrefix: eventKeyPrefix.flatMap(EventKey.init))
    }
}

/// The SHA-256 of a secret of 256 random bits. A comparison may stop at the first byte that differs: who learns bytes of
/// the hash from its time still cannot guess the secret.
typealias SecretHash = [UInt8]

extension SecretHash {
    init(of secret: some StringProtocol) { self = SHA256.hash(Array(secret.utf8)) }
}
