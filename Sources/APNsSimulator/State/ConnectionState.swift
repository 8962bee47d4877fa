internal import APNsWire
internal import FoundationEssentials

/// APNs' state of one connection (docs/internals/apns.md sections 5 and 6).
struct ConnectionState: Sendable {
    /// Streams of a connection that has not shown a token yet.
    static let unprovenStreams = 1
    /// And once it has; about 1,000 were seen live.
    static let provenStreams = 1_000
    /// Refusals in a row after which a connection has one stream again, and after which it ends. That both happen is
    /// documented, numbers are not.
    static let slowAfter = 20
    static let endAfter = 100
    /// A `BadDeviceToken` counts for so many other refusals: documented to end a connection sooner.
    static let badDeviceTokenWeight = 5

    private var bound: ProviderKey?
    private var tokens = TokenHistory()
    private var refusals = 0
    private var streams = unprovenStreams
    private var isEnding = false

    /// Takes note of a good token.
    ///
    /// - Throws: `UnrelatedKeyIdInToken` for a key that may not share the connection with the one first used on it;
    ///   `TooManyProviderTokenUpdates` when `countsTokens`, for a token that replaces another too soon.
    mutating func admit(_ token: ProviderToken, countsTokens: Bool, now: Date) throws(Refusal) {
        if let bound, !bound.isRelated(to: token.key) { throw Refusal(.unrelatedKeyIdInToken) }
        if countsTokens { try tokens.admit(token, now: now) }
        if bound == nil { bound = token.key }
    }

    /// Takes note of an answer and says what it means for the connection.
    mutating func note(_ answer: SimulatorAnswer, countsRefusals: Bool) -> [ConnectionEffect] {
        var effects: [ConnectionEffect] = []
        if answer.status < 400 {
            refusals = 0
        } else if countsRefusals, answer.status < 500, answer.status != 410, answer.reason != .tooManyRequests {
            refusals += answer.reason == .badDeviceToken ? Self.badDeviceTokenWeight : 1
        }
        let allowed =
            if refusals >= Self.slowAfter {
                Self.unprovenStreams
            } else if answer.tokenAccepted, answer.status < 400 || streams == Self.unprovenStreams && refusals <= 1 {
                Self.provenStreams
            } else {
                streams
            }
        if allowed != streams {
            streams = allowed
            effects.append(.maximumStreams(allowed))
        }
        if refusals >= Self.endAfter, !isEnding {
            isEnding = true
            effects.append(.goAway(reason: answer.reason?.rawValue ?? "", code: 0))
        }
        return effects
    }
}

/// How often tokens change: no sooner than 20 minutes after the one before (docs/internals/apns.md section 5).
struct TokenHistory: Sendable {
    private var newest: (issuedAt: Double, since: Date)?

    /// A token is too early when both its `iat` and its first use are less than 20 minutes after its predecessor's:
    /// what exactly Apple counts is not known. Tokens signed again with the same `iat`, and older ones still under way,
    /// are no change.
    mutating func admit(_ token: ProviderToken, now: Date) throws(Refusal) {
        if let newest {
            guard token.issuedAt > newest.issuedAt else { return }
            let age = Double(APNsLimits.providerTokenMinimumAge)
            if token.issuedAt - newest.issuedAt < age, now.timeIntervalSince(newest.since) < age {
                throw Refusal(.tooManyProviderTokenUpdates)
            }
        }
        newest = (token.issuedAt, now)
    }
}
