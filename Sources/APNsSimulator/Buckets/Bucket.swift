internal import APNsWire
internal import FoundationEssentials

/// A rate limit that APNs does not publish: how many sends APNs accepts for each app, channel, connection or device
/// token. Further sends get 429 `TooManyRequests`.
struct Bucket: Sendable {
    /// The kind of key. A bucket has a separate level for each key.
    enum Scope: String, Sendable, CaseIterable {
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

    /// The app, channel, connection or device token of one level.
    struct Key: Hashable, Sendable {
        var app: SimulatorState.AppKey?
        var channelID: String?
        var connection: Int?
        var deviceToken: String?
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
    struct Level: Sendable, Hashable {
        /// The requests that can be accepted at once.
        var level: Double
        var filledAt: Date
        var counts: Counts
    }

    /// A name for people; unique among the buckets of a simulator.
    var name = ""
    /// `broadcast` or `device`. Each has separate buckets.
    var operation = Route.Operation.broadcast
    var scope: Scope
    /// How many requests a level gains per second.
    var rate: Double
    /// The requests in a full bucket.
    var burst: Double
    /// Whether a refusal has `Retry-After` with the seconds until there is room again.
    var saysRetryAfter = false
    /// `nil`: both environments.
    var environment: APNsEnvironment?
    /// The bundle ID, compared without regard to case; `nil`: every app.
    var bundleID: String?

    var since = Date(timeIntervalSince1970: 0)
    private(set) var levels: [Key: Level] = [:]
    /// The counts of keys that were dropped.
    private var forgotten = Counts()
    /// With this many keys, the keys with a full bucket are dropped, because a full bucket is the same as a new one.
    private var crowded = 20_000

    init(
        name: String = "", _ operation: Route.Operation = .broadcast, by scope: Scope, rate: Double, burst: Double,
        saysRetryAfter: Bool = false, environment: APNsEnvironment? = nil, bundleID: String? = nil
    ) {
        self.name = name
        self.operation = operation
        self.scope = scope
        self.rate = rate
        self.burst = burst
        self.saysRetryAfter = saysRetryAfter
        self.environment = environment
        self.bundleID = bundleID
    }

    /// - Returns: `nil` if this bucket does not apply to the request.
    func key(of send: BucketSend) -> Key? {
        guard send.operation == operation, environment.map({ $0 == send.app.environment }) ?? true,
            bundleID.map({ $0.lowercased() == send.app.name }) ?? true
        else { return nil }
        return switch scope {
        case .app: Key(app: send.app)
        case .channel: Key(app: send.app, channelID: send.target)
        case .connection: Key(connection: send.connection)
        case .device: Key(app: send.app, deviceToken: send.target)
        }
    }

    /// Raises the levels of all keys for the time since the last call.
    mutating func fill(now: Date) { for key in levels.keys { _ = fill(key, now: now) } }

    /// Raises the level for the time since the last call.
    ///
    /// - Returns: whether there is room for a request.
    mutating func fill(_ key: Key, now: Date) -> Bool {
        guard var level = levels[key] else {
            if levels.count >= crowded { forgetFull(now: now) }
            levels[key] = Level(level: burst, filledAt: now, counts: Counts(allowed: burst))
            return burst >= 1
        }
        let more = max(0, now.timeIntervalSince(level.filledAt)) * rate
        level.level = min(burst, level.level + more)
        level.counts.allowed += more
        level.filledAt = now
        levels[key] = level
        return level.level >= Self.one
    }

    /// Counts a request that was let through.
    mutating func take(_ key: Key) {
        levels[key]?.level -= 1
        levels[key]?.counts.taken += 1
    }

    /// Counts a request that was refused.
    ///
    /// - Returns: whole seconds until there is room; `nil` if this bucket sends no `Retry-After`.
    mutating func refuse(_ key: Key) -> Int? {
        levels[key]?.counts.refused += 1
        guard saysRetryAfter, let level = levels[key]?.level else { return nil }
        let seconds = rate > 0 ? ((1 - level) / rate).rounded(.up) : Self.longestWait
        return Int(min(max(1, seconds), Self.longestWait))
    }

    /// The sum of all keys' counts.
    var counts: Counts { levels.values.reduce(forgotten) { $0 + $1.counts } }

    /// Drops the level of a connection that has ended.
    mutating func forget(connection: Int) {
        guard let level = levels.removeValue(forKey: Key(connection: connection)) else { return }
        forgotten = forgotten + level.counts
    }

    private mutating func forgetFull(now: Date) {
        for (key, level) in levels where level.level + now.timeIntervalSince(level.filledAt) * rate >= burst {
            levels[key] = nil
            forgotten = forgotten + level.counts
        }
        // Twice the number of remaining keys, so that the search for full buckets stays rare.
        crowded = max(crowded, 2 * levels.count)
    }

    /// The level that allows one request. It is a little below 1, because the sums of rates have rounding errors.
    private static let one = 1 - 1e-6
    /// The longest `Retry-After` in seconds.
    private static let longestWait = 3_600.0
}

extension Bucket.Counts {
    static func + (one: Self, other: Self) -> Self {
        Self(
            taken: one.taken + other.taken, refused: one.refused + other.refused,
            allowed: one.allowed + other.allowed)
    }
}

/// The parts of a request that buckets use. All other checks of the request have succeeded.
struct BucketSend: Sendable, Hashable {
    /// `broadcast` or `device`.
    var operation: Route.Operation
    var app: SimulatorState.AppKey
    var connection: Int
    /// The channel's ID or the device token.
    var target: String
}
