internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import GrandstandTestKit
internal import Postgres
internal import Testing

@testable internal import GrandstandServer

/// Installations of one app, with calls that tests need.
struct Phones: Sendable {
    let stores: StoreWorld
    let store: InstallationStore

    static let secret = String(repeating: "s", count: 43)
    static let type = "MatchAttributes"

    init(_ stores: StoreWorld) {
        self.stores = stores
        store = InstallationStore(Database(stores.pool))
    }

    static func id(_ uuid: UUID = UUID(), in environment: APNsEnvironment = .production) throws -> InstallationID {
        InstallationID(bundleID: try .sample(), environment: environment, id: uuid)
    }

    /// A state as the tables return it.
    static func state(
        _ sequence: Int? = nil, token: String? = "aa", topics: Set<String> = ["team:a"], system: String = "18.4"
    ) -> Contract.InstallationDraft {
        Contract.InstallationDraft(
            sequence: sequence, systemVersion: system, appVersion: "5.2", locale: "de-AT", timeZone: "Europe/Vienna",
            liveActivitiesEnabled: true, frequentPushesEnabled: true,
            startTokens: token.map { [.init(attributesType: type, token: $0)] } ?? [], topics: topics.sorted())
    }

    @discardableResult
    func put(
        _ state: Contract.InstallationDraft, of id: InstallationID, secret: String = Self.secret
    ) async throws -> Bool {
        try await store.put(state, of: id, secret: secret, now: stores.now)
    }

    func known(_ id: InstallationID) async throws -> Contract.Installation {
        try await store.installation(id, secret: Self.secret)
    }

    /// Reports an activity that is shown.
    @discardableResult
    func report(
        _ id: String = "activity-1", of installation: InstallationID, _ state: Contract.ActivityState = .active,
        key: String = "match-1", token: String? = nil, channelID: String? = nil
    ) async throws -> Bool {
        try await store.put(
            Contract.ActivityDraft(
                eventKey: key, attributesType: Self.type, state: state, updateToken: token, channelId: channelID),
            as: id, of: installation, secret: Self.secret, now: stores.now)
    }

    /// The installation's row.
    func row(_ id: InstallationID) async throws -> Int {
        let rows = try await stores.pool.query("select id from installations where installation = \(id.id)")
        return try #require(rows.first).decode("id")
    }

    /// Opens a run of an event's start, in a transaction of its own unless one is given.
    ///
    /// - Returns: its row.
    func open(
        _ key: String = "match-1", topics: [String] = ["team:a"], on connection: (any PostgresQuerying)? = nil
    ) async throws -> Int {
        let rows = try await (connection ?? stores.pool).query(
            """
            insert into start_runs (event_key, app, topics, attributes_type, due_at, cursor)
            select \(key), e.id, \(topics), \(Self.type), \(stores.now.addingTimeInterval(60)), null
            from app_environments e where e.environment = 'production' returning id
            """)
        return try #require(rows.first).decode("id")
    }

    /// The installations whose start in a run is pending.
    func pending(_ run: Int) async throws -> Set<Int> {
        Set(
            try await stores.pool.query(
                "select installation from starts where run = \(run) and state = 'pending'"
            ).map { try $0.decode(Int.self, "installation") })
    }

    func start(_ run: Int, _ installation: Int, _ state: String = "accepted", reason: String? = nil) async throws {
        try await stores.pool.query(
            """
            insert into starts (run, installation, state, reason, at)
            values (\(run), \(installation), \(state)::start_state, \(reason), \(stores.now))
            """)
    }
}

/// Runs a test with one app on its own database.
func withPhones(_ body: (Phones) async throws -> Void) async throws {
    try await withStores { stores in
        try await stores.apps.put(.sample(at: stores.now))
        try await body(Phones(stores))
    }
}

/// Runs a test with one app, its event, and a registered installation.
func withPhone(_ body: (Phones, InstallationID) async throws -> Void) async throws {
    try await withPhones { phones in
        let id = try Phones.id()
        try await phones.stores.put(.sample())
        try await phones.put(Phones.state(), of: id)
        try await body(phones, id)
    }
}
