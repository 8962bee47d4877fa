internal import Cryptography
package import FoundationEssentials
package import Grandstand
package import GrandstandContract
internal import Postgres

/// The operations on keys, in the table `api_keys`. A caller manages only keys whose reach is inside its own.
extension KeyStore {
    /// Creates a key and returns its secret. The secret cannot be read again.
    ///
    /// - Parameter reach: the caller's.
    /// - Throws: `forbidden` for a key that reaches more, and if a caller that is bound to apps sets a prefix;
    ///   `app-not-found` for a key that is bound to an unknown app; `invalid-request` for a prefix that overlaps another.
    package func create(
        _ draft: Contract.KeyDraft, by actor: AuditActor, within reach: AppReach = .all
    ) async throws -> Contract.IssuedKey {
        guard reach.covers(draft.reach) else { throw reach.refusal }
        // A prefix takes the event keys that begin with it away from all other apps.
        guard draft.eventKeyPrefix == nil || reach == .all else {
            throw Problem(
                .forbidden, "A prefix is reserved in all apps, so only a key for all apps can give it to a key.")
        }
        let now = now()
        return try await database.transaction { connection in
            var own = draft.reach
            if let apps = own.apps {
                let registered = try await ReachColumns.lockRegistered(apps, on: connection) { missing in
                    Problem(.appNotFound, "There is no app \(missing). Register it first, or leave the app out.")
                }
                own = AppReach(of: Array(registered), eventKeyPrefix: own.eventKeyPrefix)
            }
            try await Self.refuseOverlap(own, now: now, on: connection)
            return try await Self.issue(draft, for: own, .keyCreated, AuditRows(by: actor, at: now), on: connection)
        }
    }

    /// Refuses a prefix that overlaps the prefix of keys of other apps, because an event key with both prefixes would
    /// belong to both.
    private static func refuseOverlap(_ reach: AppReach, now: Date, on connection: PostgresConnection) async throws {
        guard let prefix = reach.eventKeyPrefix?.rawValue else { return }
        // This lock makes two creations at the same time check one after the other.
        try await connection.query("lock table api_keys in share row exclusive mode")
        let others = try await connection.query(
            """
            select name from api_keys where \(isActive(at: now))
                and apps is distinct from \(ReachColumns.value(reach))::text[]
                and (starts_with(event_key_prefix, \(prefix)) or starts_with(\(prefix), event_key_prefix))
            """)
        guard let other: String = try others.first?.decode("name") else { return }
        throw Problem.invalid(
            "The prefix overlaps that of another key.", at: "/eventKeyPrefix",
            "The key \(other) is for other apps. Revoke it, or choose another prefix.")
    }

    /// Keys with their last use, the newest first. A last use is stored every few seconds, so it may be some seconds
    /// old.
    ///
    /// - Throws: `invalid-request` for an invalid cursor.
    package func keys(within reach: AppReach, _ page: PageRequest) async throws -> Contract.KeyPage {
        try await database.page(
            page, newestFirst: true,
            of: "\(Self.selection(at: now())) where \(ReachColumns.isWithin(reach, of: "k"))")
    }

    /// - Throws: `key-not-found`, also for a key that reaches more than `reach`.
    func key(_ id: UUID, within reach: AppReach = .all) async throws -> Contract.Key {
        let rows = try await database.query(
            """
            \(Self.selection(at: now())) where k.id = \(id) and \(ReachColumns.isWithin(reach, of: "k"))
            """)
        guard let row = rows.first else { throw Problem(.keyNotFound, "There is no key \(id.text).") }
        return try row.read()
    }

    /// Creates a key with the same name, scopes, apps and prefix.
    ///
    /// - Parameter overlap: seconds for which the old key can still be used, if it does not expire earlier; `nil`: a day.
    /// - Throws: `key-not-found`, also for a key that is revoked, expired or already replaced.
    func rotate(
        _ id: UUID, overlap: Int?, by actor: AuditActor, within reach: AppReach = .all
    ) async throws -> Contract.IssuedKey {
        let now = now()
        let issued = try await database.transaction { connection in
            let rows = try await connection.query(
                """
                \(Self.selection(at: now)) where id = \(id) and replaced_by is null
                    and \(Self.isActive(at: now)) and \(ReachColumns.isWithin(reach, of: "k")) for update
                """)
            guard let old = try rows.first.map(Self.key) else {
                throw Problem(.keyNotFound, "There is no key \(id.text) that is active and not replaced.")
            }
            // The new key expires when the old one would have, so rotation does not prolong a limited key.
            let draft = Contract.KeyDraft(name: old.name, scopes: Array(old.scopes), expiresAt: old.expiresAt)
            let issued = try await Self.issue(
                draft, for: old.reach, .keyRotated, AuditRows(by: actor, at: now), on: connection)
            let until = now.addingTimeInterval(TimeInterval(overlap ?? 86_400))
            try await connection.query(
                """
                update api_keys set replaced_by = \(issued.id)::text::uuid,
                    expires_at = least(expires_at, \(until)) where id = \(id)
                """)
            return issued
        }
        forget(id)
        return issued
    }

    /// Revokes a key.
    ///
    /// - Parameter disablingWebhooks: also disables the webhooks that the key declared, even if the key is already
    ///   revoked.
    /// - Returns: whether the call changed anything: the key was not revoked yet, or a webhook was enabled.
    @discardableResult
    package func revoke(
        _ id: UUID, disablingWebhooks: Bool = false, by actor: AuditActor
    ) async throws -> Bool {
        let now = now()
        let isChanged = try await database.transaction { connection in
            let rows = try await connection.query(
                """
                update api_keys set revoked_at = \(now) where id = \(id) and revoked_at is null
                returning name, prefix, apps
                """)
            var entries = try rows.map { row in
                let (name, prefix): (String, String) = (try row.decode("name"), try row.decode("prefix"))
                return AuditRows(by: actor, at: now).insert(
                    .keyRevoked, .init(bundleID: try ReachColumns.read(row).onlyApp), reason: "\(name) (\(prefix)…)")
            }
            if disablingWebhooks {
                entries += try await WebhookStore.disable(
                    "declared_by = \(id)", by: actor, now: now, on: connection,
                    because: "The key that declared it was revoked.")
            }
            if !entries.isEmpty { try await connection.pipeline(entries) }
            return !entries.isEmpty
        }
        forget(id)
        return isChanged
    }

    private static func issue(
        _ draft: Contract.KeyDraft, for reach: AppReach, _ action: Contract.AuditAction, _ audit: AuditRows,
        on connection: PostgresConnection
    ) async throws -> Contract.IssuedKey {
        // `gs_` and 43 characters of base64url: 256 random bits, recognisable by secret scanners.
        let secret = "gs_" + Base64URL.text(randomBytes(32))
        let (prefix, scopes) = (String(secret.prefix(9)), Set(draft.scopes).map(\.rawValue).sorted())
        let rows = try await connection.pipeline([
            """
            insert into api_keys as k (id, name, secret_hash, prefix, scopes, apps,
                event_key_prefix, created_at, expires_at)
            values (\(UUID()), \(draft.name), \(SecretHash(of: secret)), \(prefix),
                \(scopes)::text[]::key_scope[], \(ReachColumns.value(reach)),
                \(reach.eventKeyPrefix?.rawValue), \(audit.at), \(draft.expiresAt))
            returning \(columns(at: audit.at))
            """,
            audit.insert(
                action, .init(bundleID: reach.onlyApp), reason: "\(draft.name) (\(prefix)…): \(scopes), \(reach.text)"),
        ])[0]
        return Contract.IssuedKey(secret: secret, try rows[0].read())
    }

    /// The columns of a `Contract.Key`, with its state at `now`.
    private static func columns(at now: Date) -> PostgresQuery {
        """
        k.id, k.name, k.scopes::text[] as scopes, k.apps as "bundleIds",
        case when cardinality(k.apps) = 1 then k.apps[1] end as "bundleId", k.prefix,
        k.event_key_prefix as "eventKeyPrefix", case when k.revoked_at is not null
            then 'revoked' when k.expires_at <= \(now) then 'expired' else 'active' end as state,
        k.created_at as "createdAt", k.expires_at as "expiresAt", k.revoked_at as "revokedAt",
        k.replaced_by as "replacedBy", k.used_at as "lastUsedAt", k.secret_hash
        """
    }

    private static func selection(at now: Date) -> PostgresQuery { "select \(columns(at: now)) from api_keys k" }

    /// The keys of requests.
    static func validKeys(on database: Database, at now: Date) async throws -> [SecretHash: APIKey] {
        var keys: [SecretHash: APIKey] = [:]
        for row in try await database.query("\(selection(at: now)) where \(isActive(at: now))") {
            keys[try row.decode("secret_hash")] = try key(row)
        }
        return keys
    }

    static func isActive(at now: Date) -> PostgresQuery {
        "revoked_at is null and (expires_at is null or expires_at > \(now))"
    }

    private static func key(_ row: PostgresRow) throws -> APIKey {
        let key: Contract.Key = try row.read()
        return APIKey(
            id: try row.decode("id"), name: key.name,
            // A scope of a newer version opens nothing here.
            scopes: Set(key.scopes).intersection(Contract.Scope.allCases), reach: key.reach,
            expiresAt: key.expiresAt, replacedBy: try row.decode("replacedBy"))
    }
}

extension Contract.KeyDraft {
    /// The apps and events that the key will reach.
    var reach: AppReach {
        AppReach(named: bundleIds ?? bundleId.map { [$0] }, eventKeyPrefix: eventKeyPrefix)
    }
}

extension Contract.Key {
    /// The apps and events that the key reaches.
    package var reach: AppReach {
        AppReach(named: bundleIds, eventKeyPrefix: eventKeyPrefix)
    }
}

/// The SHA-256 of a secret of 256 random bits. A comparison may stop at the first byte that differs: who learns bytes of
/// the hash from its time still cannot guess the secret.
typealias SecretHash = [UInt8]

extension SecretHash {
    init(of secret: some StringProtocol) { self = SHA256.hash(Array(secret.utf8)) }
}

/// The column `apps` of the tables of keys and webhooks: the apps to which the key or webhook is bound; null: all apps.
enum ReachColumns {
    static func value(_ reach: AppReach) -> [String]? { reach.apps?.map(\.rawValue) }

    static func read(_ row: PostgresRow) throws -> AppReach {
        AppReach(named: try row.decode("apps"))
    }

    /// The condition that a row's apps are all within `reach`.
    static func isWithin(_ reach: AppReach, of table: PostgresQuery) -> PostgresQuery {
        // A reach with a prefix of event keys covers no row of these tables. Webhooks are told of all events of their
        // apps, so webhooks reach beyond the prefix. A key with a prefix cannot manage other keys.
        guard reach.eventKeyPrefix == nil else { return "false" }
        guard let topics = reach.topics else { return "true" }
        return """
            coalesce((select bool_and(lower(r.app) = any(\(topics))) from unnest(\(table).apps) as r(app)), false)
            """
    }

    /// The apps by their registered names. They are locked, so that they stay registered until this transaction ends.
    ///
    /// - Throws: the result of `refusal` for the first app that is not registered.
    static func lockRegistered(
        _ apps: [BundleID], on connection: some PostgresQuerying, orThrow refusal: (BundleID) -> Problem
    ) async throws -> Set<BundleID> {
        let rows = try await connection.query(
            """
            select bundle_id from apps a where topic = any(\(apps.map(\.topic))) and not exists (
                select from app_environments where bundle_id = a.bundle_id and deleting_since is not null)
            order by bundle_id for key share
            """)
        let known = Set(try rows.map { try $0.word("bundle_id", as: BundleID.self) })
        let topics = Set(known.map(\.topic))
        if let missing = apps.first(where: { !topics.contains($0.topic) }) { throw refusal(missing) }
        return known
    }
}
