internal import FoundationEssentials
internal import Grandstand
internal import Postgres

/// Installations with their start tokens and topics, as the tables have them: locked and loaded by key
/// (`InstallationRows+write` writes them back).
enum InstallationRows {
    typealias Register = InstallationRegister<SecretHash>
    typealias Changes = InstallationChanges<SecretHash>

    /// What a registration names: its installation, and the tokens, which another installation may have.
    struct Names: Sendable {
        var keys: [InstallationKey] = []
        var tokens: [(app: Int, type: String, token: DeviceToken)] = []

        mutating func add(_ key: InstallationKey, _ startTokens: [String: DeviceToken]) {
            keys.append(key)
            for (type, token) in startTokens { tokens.append((key.app, type, token)) }
        }
    }

    /// Loads installations in one statement, so that an installation's row, tokens and topics are consistent.
    static func load(_ names: Names) -> PostgresQuery {
        """
        select i.id, i.app, i.installation, i.secret_hash, i.sequence, i.system_version, i.app_version, i.locale,
            i.variant, i.time_zone, i.live_activities_enabled, i.frequent_pushes_enabled, i.seen_at,
            i.tokens_paced_until,
            array(select topic from follows where installation = i.id) as topics,
            t.types, t.tokens, t.registered, t.suspect
        from installations i cross join lateral (
            select array_agg(attributes_type) as types, array_agg(token) as tokens,
                array_agg(registered_at) as registered, array_agg(suspect_since) as suspect
            from start_tokens where installation = i.id) t
        where i.id = any(array(\(ids(names))))
        """
    }

    /// Locks installations in order of their rows, so that no two transactions wait for each other.
    static func lock(_ names: Names) -> PostgresQuery {
        "select from installations where id = any(array(\(ids(names)))) order by id for no key update"
    }

    /// Locks the apps that still exist, so that they stay until the transaction ends.
    static func lockApps(_ keys: [InstallationKey]) -> PostgresQuery {
        """
        select e.id from app_environments e join apps a using (bundle_id)
        where e.id = any(\(Set(keys.map { Int32($0.app) }).sorted())) and e.deleting_since is null for key share of a
        """
    }

    /// How many installations these apps have, for `accounts(_:)`.
    ///
    /// - Parameter now: the hour of this time counts as the present hour.
    static func account(_ apps: PostgresQuery, at now: Date) -> PostgresQuery {
        let hour: PostgresQuery = "date_trunc('hour', \(now)::timestamptz, 'UTC')"
        return """
            select app, sum(installations)::bigint as installations,
                coalesce(sum(created) filter (where hour = \(hour)), 0)::bigint as created,
                coalesce(sum(created) filter (where hour = \(hour) - interval '1 hour'), 0)::bigint as created_before
            from device_accounts where app = any(\(apps)) group by app
            """
    }

    static func accounts(_ rows: PostgresRows) throws -> [Int: DeviceAccount] {
        var accounts: [Int: DeviceAccount] = [:]
        for row in rows { accounts[try row.decode("app")] = try account(row) }
        return accounts
    }

    static func account(_ row: PostgresRow) throws -> DeviceAccount {
        DeviceAccount(
            installations: try row.decode("installations"), created: try row.decode("created"),
            createdBefore: try row.decode("created_before"))
    }

    /// Looks up installations by app and UUID: `n` has the app and the UUID, `i.id` is the ID of the row.
    static func rows(_ apps: [Int], _ ids: [UUID]) -> PostgresQuery {
        """
        unnest(\(apps.map(Int32.init)), \(ids)) as n(app, installation) cross join lateral (
            select id from installations where app = n.app and installation = n.installation offset 0) i
        """
    }

    private static func ids(_ names: Names) -> PostgresQuery {
        """
        select i.id from \(rows(names.keys.map(\.app), names.keys.map(\.id)))
        union
        select h.installation from unnest(\(names.tokens.map { Int32($0.app) }), \(names.tokens.map(\.type)),
                \(names.tokens.map { PostgresBytes($0.token.bytes) })) as w(app, attributes_type, token)
            cross join lateral (
                select installation from start_tokens
                where app = w.app and attributes_type = w.attributes_type and token = w.token offset 0) h
        """
    }

    // MARK: Reading

    static func register(
        _ rows: PostgresRows, accounts: [Int: DeviceAccount] = [:], mostNew: Int? = nil
    ) throws -> Register {
        var records: [InstallationKey: Register.Record] = [:]
        for row in rows {
            records[InstallationKey(app: try row.decode("app"), id: try row.decode("installation"))] = try record(row)
        }
        return Register(records, accounts: accounts, mostNew: mostNew)
    }

    static func record(_ row: PostgresRow) throws -> Register.Record {
        let topics: [String] = try row.decode("topics")
        let state = InstallationState(
            sequence: try row.decode("sequence"),
            systemVersion: SystemVersion(number: try row.decode("system_version")),
            appVersion: try row.decode("app_version"), locale: try row.decode("locale"),
            variant: try row.decode(String?.self, "variant").map { try known($0, "variant", Variant.init) },
            timeZone: try row.decode("time_zone"), liveActivitiesEnabled: try row.decode("live_activities_enabled"),
            frequentPushesEnabled: try row.decode("frequent_pushes_enabled"),
            topics: Set(try topics.map { try known($0, "topic", Topic.init) }))
        return Register.Record(
            row: try row.decode("id"),
            secret: try known(try row.decode([UInt8].self, "secret_hash"), "secret_hash") { SecretHash($0) },
            state: state, tokens: try tokens(row), seenAt: try row.decode("seen_at"),
            tokensPacedUntil: try row.decode("tokens_paced_until"))
    }

    private static func tokens(_ row: PostgresRow) throws -> [String: RegisteredToken] {
        guard let types = try row.decode([String]?.self, "types") else { return [:] }
        let tokens: [PostgresBytes] = try row.decode("tokens")
        let registered: [Date] = try row.decode("registered")
        let suspect: [Date?] = try row.decode("suspect")
        var known: [String: RegisteredToken] = [:]
        for (index, type) in types.enumerated() {
            known[type] = RegisteredToken(
                token: try self.known(tokens[index].bytes, "token", DeviceToken.init(bytes:)),
                registeredAt: registered[index], suspectSince: suspect[index])
        }
        return known
    }

    /// Converts a value whose form a CHECK or this code guarantees.
    private static func known<Raw, Value>(_ raw: Raw, _ column: String, _ convert: (Raw) -> Value?) throws -> Value {
        guard let value = convert(raw) else { throw UnknownWord(column: column, text: "what cannot be read") }
        return value
    }
}
