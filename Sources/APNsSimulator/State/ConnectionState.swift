internal import APNsWire

/// APNs' state of one connection (docs/internals/apns.md sections 5 and 6).
struct ConnectionState: Sendable {
    /// The most streams of a connection before its first valid token.
    static let streamsBeforeToken = 1
    /// The most streams of a connection after its first valid token; about 1,000 were seen live.
    static let streamsAfterToken = 1_000
    /// After `refusalsToSlow` refusals in a row, a connection may have only one stream. After `refusalsToEnd`, it ends.
    /// Both effects are documented, but not the numbers.
    static let refusalsToSlow = 20
    static let refusalsToEnd = 100
    /// A `BadDeviceToken` counts as this many other refusals, because it is documented to end a connection sooner.
    static let badDeviceTokenWeight = 5

    private var bound: ProviderKey?
    /// The newest token: its `iat`, and when it was first used.
    private var lastToken: (issuedAt: Double, since: Double)?
    private var refusalScore = 0
    private var streamLimit = streamsBeforeToken
    private var isEnding = false

    /// Records a valid token.
    ///
    /// - Throws: `UnrelatedKeyIdInToken` if the key may not share the connection with its first key;
    ///   `TooManyProviderTokenUpdates` if the token replaces another too soon.
    mutating func admit(_ token: ProviderToken, now: Double) throws(Refusal) {
        if let bound, !bound.isRelated(to: token.key) { throw Refusal(.unrelatedKeyIdInToken) }
        try checkRenewal(token, now: now)
        if bound == nil { bound = token.key }
    }

    /// Records an answer, and adds its effects on the connection to it.
    mutating func record(_ answer: inout SimulatorAnswer) {
        if answer.status < 400 {
            refusalScore = 0
        } else if answer.status < 500, answer.status != 410, answer.reason != .tooManyRequests {
            refusalScore += answer.reason == .badDeviceToken ? Self.badDeviceTokenWeight : 1
        }
        let allowed =
            if refusalScore >= Self.refusalsToSlow {
                Self.streamsBeforeToken
            } else if answer.tokenAccepted,
                answer.status < 400 || streamLimit == Self.streamsBeforeToken && refusalScore <= 1
            {
                Self.streamsAfterToken
            } else {
                streamLimit
            }
        if allowed != streamLimit { answer.newStreamLimit = allowed }
        streamLimit = allowed
        answer.endsConnection = refusalScore >= Self.refusalsToEnd && !isEnding
        isEnding = refusalScore >= Self.refusalsToEnd || isEnding
    }

    /// Refuses a token if it follows the previous token too soon (docs/internals/apns.md section 5): its `iat` and its
    /// first use are both less than 20 minutes after those of the previous token. Apple does not document what exactly is
    /// measured. A token with the same or an older `iat` is not a replacement.
    private mutating func checkRenewal(_ token: ProviderToken, now: Double) throws(Refusal) {
        if let lastToken {
            guard token.issuedAt > lastToken.issuedAt else { return }
            let age = Double(APNsLimits.providerTokenMinimumAge)
            if token.issuedAt - lastToken.issuedAt < age, now - lastToken.since < age {
                throw Refusal(.tooManyProviderTokenUpdates)
            }
        }
        lastToken = (token.issuedAt, now)
    }
}
