internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import GrandstandTestKit
internal import Postgres
internal import Testing

@testable internal import GrandstandServer

/// The stores including that of starts, and registered installations.
struct StartWorld: Sendable {
    let stores: StoreWorld
    let starts: StartStore

    init(_ stores: StoreWorld) {
        self.stores = stores
        starts = StartStore(Database(stores.pool))
    }

    var now: Date { stores.now }

    // MARK: Events

    static func start(
        at: Date? = nil, until: Date? = nil, attributesType: String = "MatchAttributes",
        contentState: String? = #"{"score":"0-0"}"#, alertsByLocale: [String: String] = [:],
        audiences: [Audience.ID]? = nil
    ) -> Contract.Start {
        func raw(_ text: String) -> RawJSON { RawJSON(unchecked: text.utf8) }
        return Contract.Start(
            at: at, until: until, attributesType: attributesType, attributes: raw(#"{"home": "ARG"}"#),
            contentState: contentState.map(raw), alert: raw(#"{"title": "Kick-off"}"#),
            alertsByLocale: alertsByLocale.isEmpty ? nil : alertsByLocale.mapValues(raw),
            audiences: audiences?.map { AudienceSelector($0) }, restart: false)
    }

    /// Declares an event whose start is due now, unless `start` says otherwise.
    @discardableResult
    func declare(
        _ key: String = "match-1", topics: [String] = ["team:rapid"], start: Contract.Start? = nil,
        audiences: [Audience]? = nil
    ) async throws -> Contract.Event {
        var specification = try EventSpecification.sample(key, audiences: audiences)
        specification.topics = topics
        specification.start = start ?? Self.start(at: now)
        return try await stores.put(specification)
    }

    /// Declares an event whose start is due now, unless `start` says otherwise, and creates its channel.
    func open(
        _ key: String = "match-1", topics: [String] = ["team:rapid"], start: Contract.Start? = nil
    ) async throws {
        try await declare(key, topics: topics, start: start)
        try await stores.provision()
    }

    func ask(_ key: String = "match-1") async throws {
        try await starts.startNow(.sample(key), within: .all, by: .commandLine, now: now)
    }

    func stop() async throws { try await starts.stop(.sample(), within: .all, by: .commandLine, now: now) }

    // MARK: Followers

    /// Registers an installation that follows topics. Unless `hasToken`, it has no token.
    @discardableResult
    func follow(
        _ topics: [String] = ["team:rapid"], system: String = "18.4", token: String? = nil, enabled: Bool = true,
        hasToken: Bool = true, locale: String? = nil, variant: String? = nil, attributesType: String = "MatchAttributes"
    ) async throws -> Int {
        let version = try #require(SystemVersion(system))
        let id = try await stores.install(
            system: version.number, locale: locale, variant: variant, enabled: enabled)
        try await stores.pool.query(
            """
            insert into follows (installation, topic, app)
            select i.id, t, i.app from installations i, unnest(\(topics)) t where i.id = \(id)
            """)
        if hasToken { try await register(token ?? "aa\(id + 1_000)", of: id, attributesType) }
        return id
    }

    func followers(_ count: Int) async throws -> [Int] { try await (0..<count).asyncMap { _ in try await follow() } }

    /// Registers a token in place of the previous one.
    func register(_ token: String, of installation: Int, _ attributesType: String = "MatchAttributes") async throws {
        try await stores.pool.query(
            """
            insert into start_tokens as t (installation, attributes_type, app, token, registered_at)
            select id, \(attributesType), app, decode(\(token), 'hex'), \(now) from installations
            where id = \(installation)
            on conflict (installation, attributes_type) do update set token = excluded.token,
                registered_at = excluded.registered_at, suspect_since = null, reason = null
            """)
    }

    /// Adds the installation to all open runs, as its registration does.
    func enlist(_ installation: Int) async throws {
        try await stores.pool.query(
            StartStore.enlist(
                "select id as run, \(installation)::bigint as installation from start_runs where closed_at is null",
                at: now))
    }

    /// The installations whose starts are settled, with their states.
    func states() async throws -> [Int: String] {
        var states: [Int: String] = [:]
        for row in try await stores.pool.query(
            "select installation, state from starts where state not in ('pending', 'sending')")
        {
            states[try row.decode("installation")] = try row.decode("state")
        }
        return states
    }

    // MARK: Sending

    func claim(
        by replica: UUID? = nil, limit: Int = 10, shardSize: Int = 100, lease: TimeInterval = 10,
        leasesEndedBefore: Date? = nil, holding: [Int]? = nil, avoiding: [BundleID] = []
    ) async throws -> [StartShard] {
        try await starts.claim(
            ShardClaim(
                environment: .production, replica: replica ?? stores.replica, limit: limit, shardSize: shardSize,
                at: now, leasedUntil: now.addingTimeInterval(lease), leasesEndedBefore: leasesEndedBefore ?? now,
                holding: holding, avoiding: avoiding))
    }

    func settle(
        _ shard: StartShard, by replica: UUID? = nil,
        _ verdict: (StartShard.Member) -> TokenVerdict? = { _ in .accepted }
    ) async throws {
        let outcomes = shard.members.map { StartOutcome(member: $0, sentAt: now, verdict: verdict($0)) }
        try await starts.settle(shard, outcomes, replica: replica ?? stores.replica, now: now)
    }

    /// Claims shards and settles all their pushes as accepted, until nothing is due now.
    ///
    /// - Returns: the installations that were sent to, in order.
    @discardableResult
    func sendAll(shardSize: Int = 100) async throws -> [Int] {
        var sent: [Int] = []
        for _ in 0..<50 {
            let shards = try await claim(shardSize: shardSize)
            for shard in shards {
                sent += shard.members.map(\.installation)
                try await settle(shard)
            }
            guard let next = try await starts.nextDue(in: .production), next <= now else { break }
        }
        return sent
    }

    func report(_ outlook: StartOutlook = .asItIs) async throws -> Contract.StartReport {
        try await starts.report(of: .sample(), within: .all, outlook, now: now)
    }

    func counts() async throws -> Contract.StartCounts { try await report().counts }
}

/// Runs a test with the store of starts on its own database.
func withStarts(_ body: (StartWorld) async throws -> Void) async throws {
    try await withStores { try await body(StartWorld($0)) }
}
