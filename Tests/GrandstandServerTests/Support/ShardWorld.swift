internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import GrandstandTestKit
internal import Postgres
internal import Testing

@testable internal import GrandstandServer

/// The stores including one that sends pushes in shards.
struct ShardWorld<Shards: ShardStore>: Sendable {
    let stores: StoreWorld
    let shards: Shards

    var now: Date { stores.now }

    /// When the next shard is due; `nil`: none waits.
    func nextDue() async throws -> Date? { try await shards.nextDue(in: .production) }

    func claim(
        size: Int = 100, by replica: UUID? = nil, lease: TimeInterval = 10, limit: Int = 10,
        leasesEndedBefore: Date? = nil, holding: [Int]? = nil, avoiding: [BundleID] = []
    ) async throws -> [Shard] {
        var request = stores.request(limit, by: replica, lease: lease, avoiding.map { AppLimit(bundleID: $0) })
        (request.shardSize, request.held) = (size, holding)
        request.leasesEndedBefore = leasesEndedBefore ?? now
        return try await shards.claim(request)
    }

    func settle(
        _ shard: Shard, by replica: UUID? = nil,
        _ verdict: (Shard.Member) -> TokenVerdict? = { _ in .accepted }
    ) async throws {
        let outcomes = shard.members.map { PushOutcome(member: $0, sentAt: now, verdict: verdict($0)) }
        try await shards.settle(shard, outcomes, replica: replica ?? stores.replica, now: now)
    }

    func settle(_ sent: Sent) async throws {
        try await settle(sent.shard, by: sent.replica) { sent.verdicts[$0.row] ?? nil }
    }

    /// Claims the first shard that is due, and settles its pushes.
    @discardableResult
    func push(
        size: Int = 100, by replica: UUID? = nil, _ verdict: (Shard.Member) -> TokenVerdict? = { _ in .accepted }
    ) async throws -> Shard {
        let shard = try #require(try await claim(size: size, by: replica).first)
        try await settle(shard, by: replica, verdict)
        return shard
    }

    /// Pushes to the members of a shard. Each arrives and is accepted, or APNs does not take it, or no answer comes.
    func sent(_ shard: Shard, by replica: UUID, _ random: inout SplitMix) -> (Sent, arrived: [Shard.Member]) {
        var (verdicts, arrived): ([Int: TokenVerdict?], [Shard.Member]) = ([:], [])
        for member in shard.members {
            let verdict: TokenVerdict? =
                switch random.next(below: 8) {
                case 0: .retry(at: now + 2, reason: "TooManyRequests")
                case 1: .unknown(reason: "timeout")
                case 2: nil
                default: .accepted
                }
            verdicts[member.row] = .some(verdict)
            switch verdict {
            case .accepted: arrived.append(member)
            case .unknown where random.next(below: 2) == 0: arrived.append(member)
            default: break
            }
        }
        return (Sent(shard: shard, replica: replica, verdicts: verdicts), arrived)
    }

    /// A claimed shard, with the verdicts of its pushes, which were sent.
    struct Sent {
        let shard: Shard
        let replica: UUID
        let verdicts: [Int: TokenVerdict?]
    }
}

typealias CrowdWorld = ShardWorld<CrowdStore>
typealias StartWorld = ShardWorld<StartStore>

/// Activities as apps report them.
extension ShardWorld<CrowdStore> {
    init(_ stores: StoreWorld) {
        self.init(
            stores: stores, shards: CrowdStore(database: Database(stores.pool), laneInterval: 1, rarePause: 60))
    }

    /// Reports an activity with a token and no channel.
    ///
    /// - Parameter variant: the variant of the audience that was chosen for the activity; `""`: the audience has no
    ///   variant.
    /// - Returns: the activity's number.
    @discardableResult
    func show(
        _ token: String, of key: String = "match-1", frequent: Bool = true, variant: String = ""
    ) async throws -> Int {
        let installation = try await stores.install(frequent: frequent)
        let activity = try await stores.count(
            """
            insert into activities (installation, activity, app, event_key, attributes_type, state, update_token,
                registered_at, reported_at, variant)
            select id, 'one', app, \(key), 'MatchAttributes', 'active', decode(\(token), 'hex'), \(now), \(now), \(variant)
            from installations where id = \(installation) returning id as n
            """)
        try await stores.pool.withConnection { try await join(activity, on: $0) }
        // If there is no content yet, the dispatcher's loop lets the activity wait for the first message at once.
        try await stores.pool.query(
            """
            update activities a set due_at = null from crowds c join audiences l using (lane)
            where c.event_key = a.event_key and c.app = a.app and c.variant = a.variant and l.newest_broadcast is null
            """)
        return activity
    }

    /// Lets an activity get the newest content, with a new token if one is given, as its report does.
    func join(_ activity: Int, token: String? = nil, on connection: PostgresConnection) async throws {
        if let token {
            try await connection.query(
                "update activities set update_token = decode(\(token), 'hex') where id = \(activity)")
        }
        try await connection.query(InstallationTransactions.makeDue("\([activity])", now: now))
    }

    /// The number of activities that are due at a time.
    func waiting() async throws -> Int { try await stores.rows("activities where in_crowd and due_at is not null") }

    /// Changes how the event's only audience is reached: by tokens or by a channel.
    func reach(by delivery: Contract.AudienceDelivery, _ key: String = "match-1") async throws {
        var audience = try Audience.sample()
        audience.delivery = delivery
        try await stores.put(.sample(audiences: [audience]), as: key)
    }

    /// The delivery of a broadcast to tokens.
    func tokens(of broadcast: Contract.Broadcast) async throws -> Contract.Delivery {
        let found = try #require(try await stores.read(broadcast))
        return try #require(found.deliveries.first { $0.counts != nil })
    }

    /// Claims shards and settles all their pushes as accepted.
    func sendAll() async throws {
        for shard in try await claim() { try await settle(shard) }
    }
}

extension Shard {
    /// The body of the first push as text.
    var text: String { text(0) }

    func text(_ push: Int) -> String { String(decoding: pushes[push].body, as: UTF8.self) }

    var timestamp: Int {
        text.firstRange(of: #""timestamp":"#).flatMap { Int(text[$0.upperBound...].prefix { $0.isNumber }) } ?? 0
    }
}

/// Registered installations, and starts of events.
extension ShardWorld<StartStore> {
    init(_ stores: StoreWorld) { self.init(stores: stores, shards: StartStore(Database(stores.pool))) }

    var starts: StartStore { shards }

    // MARK: Events

    static func start(
        at: Date? = nil, until: Date? = nil, contentState: String? = #"{"score":"0-0"}"#,
        alertsByLocale: [String: String] = [:], audiences: [Audience.ID]? = nil
    ) -> Contract.StartDraft {
        func raw(_ text: String) -> RawJSON { RawJSON(unchecked: text.utf8) }
        return Contract.StartDraft(
            at: at, until: until, attributesType: "MatchAttributes", attributes: raw(#"{"home": "ARG"}"#),
            contentState: contentState.map(raw), alert: raw(#"{"title": "Kick-off"}"#),
            alertsByLocale: alertsByLocale.isEmpty ? nil : alertsByLocale.mapValues(raw),
            audiences: audiences?.map { .init($0) }, restart: false)
    }

    /// Declares an event whose start is due now, unless `start` says otherwise.
    @discardableResult
    func declare(
        topics: [String] = ["team:rapid"], start: Contract.StartDraft? = nil, audiences: [Audience]? = nil
    ) async throws -> Contract.Event {
        var draft = try Contract.EventDraft.sample(audiences: audiences)
        draft.topics = topics
        draft.start = start ?? Self.start(at: now)
        return try await stores.put(draft)
    }

    /// Declares an event as `declare` does, and creates its channels.
    func open(
        topics: [String] = ["team:rapid"], start: Contract.StartDraft? = nil, audiences: [Audience]? = nil
    ) async throws {
        try await declare(topics: topics, start: start, audiences: audiences)
        try await stores.provision()
    }

    func ask() async throws { try await starts.start(.sample(), within: .all, by: .commandLine, now: now) }

    func stop() async throws { try await starts.stop(.sample(), within: .all, by: .commandLine, now: now) }

    // MARK: Followers

    /// Registers an installation that follows topics. Unless `hasToken`, it has no token. One that is late is added to
    /// the open run.
    @discardableResult
    func follow(
        _ topics: [String] = ["team:rapid"], system: String = "18.4", token: String? = nil, enabled: Bool = true,
        hasToken: Bool = true, locale: String? = nil, variant: String? = nil,
        attributesType: String = "MatchAttributes", late: Bool = false
    ) async throws -> Int {
        let id = try await stores.install(
            system: SystemVersion.number(system), locale: locale, variant: variant, enabled: enabled)
        try await stores.pool.query(
            """
            insert into follows (installation, topic, app)
            select i.id, t, i.app from installations i, unnest(\(topics)) t where i.id = \(id)
            """)
        if hasToken { try await register(token ?? "aa\(id + 1_000)", of: id, attributesType) }
        if late { try await enlist(id) }
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
                registered_at = excluded.registered_at, suspect_since = null
            """)
    }

    /// Adds the installation to all open runs, as its registration does.
    func enlist(_ installation: Int) async throws {
        let app = try await stores.count("select app::bigint as n from installations where id = \(installation)")
        try await stores.pool.query(StartStore.enlist([installation], of: [Int32(app)], at: now))
    }

    /// The installations whose starts are settled, with their states.
    func states() async throws -> [Int: String] {
        let rows = try await stores.pool.query(
            "select installation, state from starts where state not in ('pending', 'sending')")
        return try Dictionary(uniqueKeysWithValues: rows.map { try ($0.decode("installation"), $0.decode("state")) })
    }

    /// Claims shards and settles all their pushes as accepted, until nothing is due now.
    ///
    /// - Returns: the installations that were sent to, in order.
    @discardableResult
    func sendAll(size: Int = 100) async throws -> [Int] {
        var sent: [Int] = []
        for _ in 0..<50 {
            for shard in try await claim(size: size) {
                sent += shard.members.map(\.row)
                try await settle(shard)
            }
            guard let next = try await nextDue(), next <= now else { break }
        }
        return sent
    }

    func report(_ outlook: StartReportQuery.Outlook = .asItIs) async throws -> Contract.StartReport {
        try await starts.report(of: .sample(), within: .all, outlook, now: now)
    }

    func counts() async throws -> Contract.StartCounts { try await report().counts }
}

/// Runs a test with the store of crowds on its own database.
func withCrowds(_ body: (CrowdWorld) async throws -> Void) async throws {
    try await withStores { try await body(CrowdWorld($0)) }
}

/// Runs a test with one open event and the tokens of its crowd.
func withCrowd(_ tokens: [String] = ["aa01"], _ body: (CrowdWorld) async throws -> Void) async throws {
    try await withCrowds { world in
        try await world.stores.open()
        for token in tokens { try await world.show(token) }
        try await body(world)
    }
}

/// Runs a test with the store of starts on its own database.
func withStarts(_ body: (StartWorld) async throws -> Void) async throws {
    try await withStores { try await body(StartWorld($0)) }
}

/// Runs a test with one open event, whose start is due, and its followers.
func withStarts(followers count: Int, _ body: (StartWorld, [Int]) async throws -> Void) async throws {
    try await withStarts { world in
        try await world.open()
        try await body(world, world.followers(count))
    }
}
