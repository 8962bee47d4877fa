internal import APNsWire
internal import FoundationEssentials

/// A rate that APNs keeps to itself: how many sends it takes of each app, channel, connection or device token. What goes
/// beyond is 429 `TooManyRequests`.
struct Bucket: Sendable {
    /// What a bucket is kept for, each apart from the others.
    enum Scope: String, Sendable, CaseIterable {
        /// An app in an environment.
        case app
        /// A channel; broadcasts alone.
        case channel
        /// An HTTP/2 connection.
        case connection
        /// A device token; device pushes alone.
        case device

        func serves(_ operation: Route.Operation) -> Bool {
            switch self {
            case .app, .connection: operation == .broadcast || operation == .device
            case .channel: operation == .broadcast
            case .device: operation == .device
            }
        }
    }

    /// The one thing that a level is kept for.
    struct Key: Hashable, Sendable {
        var app: SimulatorState.AppKey?
        var channelID: String?
        var connection: Int?
        var deviceToken: String?
    }

    /// Requests since the bucket was made, or since its key was seen first.
    struct Counts: Sendable, Hashable {
        /// Let through, and accepted therefore.
        var taken = 0
        /// Refused because this bucket was empty.
        var refused = 0
        /// What the bucket could have let through: its depth, and what has run in since. Never below `taken`.
        var allowed = 0.0
    }

    /// One key's bucket.
    struct Level: Sendable, Hashable {
        /// Requests it takes at once.
        var level: Double
        var filledAt: Date
        var counts: Counts
    }

    /// For people; unique among the buckets of a simulator.
    var name = ""
    /// `broadcast` or `device`: their budgets are apart.
    var operation = Route.Operation.broadcast
    var scope: Scope
    /// Requests a second that run in.
    var rate: Double
    /// Requests that a full bucket takes at once.
    var burst: Double
    /// A refusal says in `Retry-After` when there is room again.
    var saysRetryAfter = false
    /// `nil`: both.
    var environment: APNsEnvironment?
    /// In any case; `nil`: every app.
    var bundleID: String?

    var since = Date(timeIntervalSince1970: 0)
    private(set) var levels: [Key: Level] = [:]
    /// Counts of keys that are forgotten.
    private var forgotten = Counts()
    /// With so many keys, those are forgotten whose bucket is full again, as it is for a key that was never seen.
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

    /// - Returns: `nil` for a request that this bucket is not about.
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

    /// Lets run in what has since the last time, for every key.
    mutating func fill(now: Date) { for key in levels.keys { _ = fill(key, now: now) } }

    /// Lets run in what has since the last time.
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
    /// - Returns: whole seconds until there is room; `nil` when this bucket does not say.
    mutating func refuse(_ key: Key) -> Int? {
        levels[key]?.counts.refused += 1
        guard saysRetryAfter, let level = levels[key]?.level else { return nil }
        let seconds = rate > 0 ? ((1 - level) / rate).rounded(.up) : Self.longestWait
        return Int(min(max(1, seconds), Self.longestWait))
    }

    /// Of all keys together.
    var counts: Counts { levels.values.reduce(forgotten) { $0 + $1.counts } }

    /// A connection that has ended takes its bucket along.
    mutating func forget(connection: Int) {
        guard let level = levels.removeValue(forKey: Key(connection: connection)) else { return }
        forgotten = forgotten + level.counts
    }

    private mutating func forgetFull(now: Date) {
        for (key, level) in levels where level.level + now.timeIntervalSince(level.filledAt) * rate >= burst {
            levels[key] = nil
            forgotten = forgotten + level.counts
        }
        // Twice as many as could not be forgotten: looking through them stays cheap for each request.
        crowded = max(crowded, 2 * levels.count)
    }

    /// One request, less what adding fractions may lose.
    private static let one = 1 - 1e-6
    /// What `Retry-After` says at most.
    private static let longestWait = 3_600.0
}

extension Bucket.Counts {
    static func + (one: Self, other: Self) -> Self {
        Self(
            taken: one.taken + other.taken, refused: one.refused + other.refused,
            allowed: one.allowed + other.allowed)
    }
}

/// What buckets look at of a request that is right in all else.
struct BucketSend: Sendable, Hashable {
    /// `broadcast` or `device`.
    var operation: Route.Operation
    var app: SimulatorState.AppKey
    var connection: Int
    /// The channel's ID or the device token.
    var target: String
}
