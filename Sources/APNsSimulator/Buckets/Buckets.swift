internal import APNsWire

/// All buckets of a simulator. A request needs room in every bucket that applies to it.
struct Buckets: Sendable {
    private(set) var all: [Bucket] = []
    private var addCount = 0

    /// Adds a full bucket. If it has no name, it gets one.
    ///
    /// - Returns: the bucket as it was added.
    /// - Throws: if the name is taken.
    mutating func add(_ bucket: Bucket, now: Double) throws(SimulatorError) -> Bucket {
        var bucket = bucket
        addCount += 1
        if bucket.name.isEmpty { bucket.name = "bucket-\(addCount)" }
        guard !all.contains(where: { $0.name == bucket.name }) else {
            throw SimulatorError(
                "There is a bucket \"\(bucket.name)\" already: change it, remove it, or choose another name.")
        }
        bucket.since = now
        all.append(bucket)
        return bucket
    }

    /// Raises all levels to the present.
    mutating func raise(now: Double) { for index in all.indices { all[index].raise(now: now) } }

    /// Changes a bucket while requests come. Levels and counts stay.
    ///
    /// - Returns: the changed bucket; `nil` if there is none with this name.
    mutating func change(_ name: String, now: Double, _ body: (inout Bucket) -> Void = { _ in }) -> Bucket? {
        guard let index = all.firstIndex(where: { $0.name == name }) else { return nil }
        // Until now, levels rise at the old rate.
        all[index].raise(now: now)
        body(&all[index])
        return all[index]
    }

    /// - Returns: whether a bucket was removed.
    mutating func remove(where isRemoved: (Bucket) -> Bool) -> Bool {
        let count = all.count
        all.removeAll(where: isRemoved)
        return all.count < count
    }

    mutating func forget(connection: Int) {
        for index in all.indices where all[index].scope == .connection { all[index].forget(connection: connection) }
    }

    /// Takes a send from all buckets that apply to it, or from none. All other checks of the request have succeeded.
    ///
    /// - Parameter operation: `broadcast` or `device`.
    /// - Throws: 429 `TooManyRequests` if one of these buckets is empty.
    mutating func take(_ operation: Route.Operation, _ send: Bucket.Key, now: Double) throws(Refusal) {
        guard !all.isEmpty else { return }
        var taking: [(index: Int, key: Bucket.Key)] = []
        var refusing: [(index: Int, key: Bucket.Key)] = []
        for index in all.indices {
            guard let key = all[index].key(operation, send) else { continue }
            if all[index].raise(key, now: now) { taking.append((index, key)) } else { refusing.append((index, key)) }
        }
        guard refusing.isEmpty else {
            let waits = refusing.compactMap { all[$0.index].refuse($0.key) }
            throw Refusal(.tooManyRequests, retryAfter: waits.max())
        }
        for (index, key) in taking { all[index].spend(key) }
    }
}

/// A rate limit that APNs does not publish: how many sends APNs accepts for each app, channel, connection or device
/// token. Further sends get 429 `TooManyRequests`. This is also its JSON in the control API (docs/simulator.md).
struct Bucket: Sendable, Codable {
    /// The kind of key. A bucket has a separate level for each key.
    enum Scope: String, ControlWord {
        /// An app in an environment.
        case app
        /// A channel; only for broadcasts.
        case channel
        /// An HTTP/2 connection.
        case connection
        /// A device token; only for device pushes.
        case device

        func serves(_ operation: Route.Operation) -> Bool {
            switch self {
            case .app, .connection: operation == .broadcast || operation == .device
            case .channel: operation == .broadcast
            case .device: operation == .device
            }
        }
    }

    /// The app, channel, connection and device token of a send, or those of one level.
    struct Key: Hashable, Sendable, Encodable {
        private(set) var bundleID: String?
        private(set) var environment: APNsEnvironment?
        private(set) var channelID: String?
        private(set) var connection: Int?
        private(set) var deviceToken: String?
        /// Only in an answer.
        fileprivate(set) var counts: Counts?

        private enum CodingKeys: String, CodingKey {
            case bundleID = "bundleId"
            case environment
            case channelID = "channelId"
            case connection, deviceToken, counts
        }

        init(_ app: SimulatorState.AppKey, channel: String? = nil, device: String? = nil, connection: Int) {
            bundleID = app.bundle
            environment = app.environment
            channelID = channel
            deviceToken = device
            self.connection = connection
        }

        /// The key of a connection's level.
        init(connection: Int) { self.connection = connection }

        /// The key of the level from which a send takes.
        fileprivate func levelKey(_ scope: Scope) -> Key {
            var key = scope == .connection ? Key(connection: connection ?? 0) : self
            if scope == .app || scope == .connection { (key.channelID, key.deviceToken) = (nil, nil) }
            if scope != .connection { key.connection = nil }
            return key
        }
    }

    /// Counts of requests: for one key since its first request, or for all keys together since the bucket was added.
    struct Counts: Sendable, Hashable, Encodable {
        /// The requests that this bucket let through.
        var taken = 0
        /// The number of requests that were refused because this bucket was empty.
        var refused = 0
        /// The most requests that this bucket could have let through: its burst, plus its rate times the seconds from
        /// the key's first request to the last time the level was raised. Never less than `taken`.
        var allowed = 0.0
    }

    /// The level of one key.
    private struct Level: Sendable, Hashable {
        /// The requests that can be accepted at once.
        var available: Double
        var raisedAt: Double
        var counts: Counts
    }

    /// A name for people; unique among the buckets of a simulator.
    var name: String
    /// `broadcast` or `device`. Each has separate buckets.
    let operation: Route.Operation
    let scope: Scope
    /// How many requests a level gains per second.
    var rate: Double
    /// The requests in a full bucket.
    var burst: Double
    /// Whether a refusal has `Retry-After` with the seconds until there is room again.
    var saysRetryAfter: Bool
    /// `nil`: both environments.
    let environment: APNsEnvironment?
    /// The bundle ID, compared without regard to case; `nil`: every app.
    let bundleID: String?
    /// Seconds since 1970.
    var since = 0.0
    /// The sum of all keys' counts, dropped keys included.
    private(set) var counts = Counts()
    /// Filled by `withKeys`.
    private var keys: [Key]?
    private var keysSeen: Int?

    private var levels: [Key: Level] = [:]
    /// With this many keys, the keys with a full bucket are dropped, because a full bucket is the same as a new one.
    private var pruneSize = 20_000

    private enum CodingKeys: String, CodingKey {
        case name, operation
        case scope = "by"
        case rate, burst
        case saysRetryAfter = "retryAfter"
        case environment
        case bundleID = "bundleId"
        case since, counts, keys, keysSeen
    }

    /// What a person may write. The other members are only in answers.
    private enum WritableKeys: String, CodingKey {
        case name, operation, by, rate, burst, retryAfter, environment, bundleId
    }

    init(from decoder: any Decoder) throws {
        let from = try decoder.container(keyedBy: WritableKeys.self)
        name = try from.decodeIfPresent(String.self, forKey: .name) ?? ""
        operation = try from.decodeIfPresent(Route.Operation.self, forKey: .operation) ?? .broadcast
        scope = try from.decode(Scope.self, forKey: .by)
        guard scope.serves(operation) else {
            throw from.error(.by, "\(scope.rawValue) cannot be used with the operation \(operation.rawValue)")
        }
        guard let rate = try from.number(.rate, in: Self.rateRange) else { throw from.error(.rate, "missing") }
        self.rate = rate
        burst = try from.number(.burst, in: Self.burstRange) ?? max(1, rate)
        saysRetryAfter = try from.decodeIfPresent(Bool.self, forKey: .retryAfter) ?? false
        environment = try from.decodeIfPresent(APNsEnvironment.self, forKey: .environment)
        bundleID = try from.decodeIfPresent(String.self, forKey: .bundleId)
    }

    private static let rateRange = 0.0...1_000_000
    private static let burstRange = 1.0...1_000_000

    /// What may be changed at any time.
    struct Change: Decodable {
        fileprivate var rate: Double?
        fileprivate var burst: Double?
        fileprivate var retryAfter: Bool?

        private enum CodingKeys: String, CodingKey {
            case rate, burst, retryAfter
        }

        init(from decoder: any Decoder) throws {
            let from = try decoder.container(keyedBy: CodingKeys.self)
            rate = try from.number(.rate, in: rateRange)
            burst = try from.number(.burst, in: burstRange)
            retryAfter = try from.decodeIfPresent(Bool.self, forKey: .retryAfter)
        }
    }

    mutating func apply(_ change: Change) {
        rate = change.rate ?? rate
        burst = change.burst ?? burst
        saysRetryAfter = change.retryAfter ?? saysRetryAfter
    }

    /// The bucket with the counts of its keys, sorted by the number of refusals.
    ///
    /// - Parameter limit: the most apps, channels, connections or device tokens that are included.
    func withKeys(_ limit: Int) -> Self {
        let sorted = levels.sorted { left, right in
            let (one, other) = (left.value.counts, right.value.counts)
            return (one.refused, one.taken) > (other.refused, other.taken)
        }
        var bucket = self
        bucket.keysSeen = levels.count
        bucket.keys = sorted.prefix(limit).map { key, level in
            var key = key
            key.counts = level.counts
            return key
        }
        return bucket
    }

    /// - Returns: the key of the level for a send; `nil` if this bucket does not apply to it.
    func key(_ operation: Route.Operation, _ send: Key) -> Key? {
        guard operation == self.operation, environment.map({ $0 == send.environment }) ?? true,
            bundleID.map({ $0.lowercased() == send.bundleID }) ?? true
        else { return nil }
        return send.levelKey(scope)
    }

    /// Raises the levels of all keys for the time since the last call.
    mutating func raise(now: Double) { for key in levels.keys { _ = raise(key, now: now) } }

    /// Raises the level for the time since the last call.
    ///
    /// - Returns: whether there is room for a request.
    mutating func raise(_ key: Key, now: Double) -> Bool {
        guard var level = levels[key] else {
            if levels.count >= pruneSize { forgetFull(now: now) }
            levels[key] = Level(available: burst, raisedAt: now, counts: Counts(allowed: burst))
            counts.allowed += burst
            return burst >= 1
        }
        let more = max(0, now - level.raisedAt) * rate
        level.available = min(burst, level.available + more)
        level.counts.allowed += more
        counts.allowed += more
        level.raisedAt = now
        levels[key] = level
        return level.available >= Self.roomForOne
    }

    /// Counts a request that was let through.
    mutating func spend(_ key: Key) {
        levels[key]?.available -= 1
        levels[key]?.counts.taken += 1
        counts.taken += 1
    }

    /// Counts a request that was refused.
    ///
    /// - Returns: whole seconds until there is room; `nil` if this bucket sends no `Retry-After`.
    mutating func refuse(_ key: Key) -> Int? {
        levels[key]?.counts.refused += 1
        counts.refused += 1
        guard saysRetryAfter, let level = levels[key]?.available else { return nil }
        let seconds = rate > 0 ? ((1 - level) / rate).rounded(.up) : Self.maxRetryAfter
        return Int(min(max(1, seconds), Self.maxRetryAfter))
    }

    /// Drops the level of a connection that has ended.
    mutating func forget(connection: Int) { levels[Key(connection: connection)] = nil }

    private mutating func forgetFull(now: Double) {
        levels = levels.filter { $0.value.available + (now - $0.value.raisedAt) * rate < burst }
        // Twice the number of remaining keys, so that the search for full buckets stays rare.
        pruneSize = max(pruneSize, 2 * levels.count)
    }

    /// The level that allows one request. It is a little below 1, because the sums of rates have rounding errors.
    private static let roomForOne = 1 - 1e-6
    /// The longest `Retry-After` in seconds.
    private static let maxRetryAfter = 3_600.0
}
