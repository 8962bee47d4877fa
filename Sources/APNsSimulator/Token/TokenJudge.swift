internal import APNsWire

/// Checks the `authorization` header of requests.
struct TokenJudge: Sendable {
    /// The most verified tokens that are remembered; with more, all are forgotten. A provider uses one token per key for at least 20 minutes, so a
    /// few are enough. Verifying an ES256 signature takes longer than the rest of a request.
    static let capacity = 64
    /// Seconds that a token's `iat` may be in the future, because clocks differ.
    static let clockSkew = 60.0

    private let keys: [String: ProviderKey]
    /// Verified tokens by the whole header, so that a known header need not be parsed.
    private var verified: [String: ProviderToken] = [:]

    /// - Parameter keys: if two have the same ID, the last one counts.
    init(keys: [ProviderKey]) {
        self.keys = Dictionary(keys.map { ($0.keyID, $0) }) { _, last in last }
    }

    /// - Throws: `MissingProviderToken` without a `bearer` authorization; `InvalidProviderToken` as `ProviderToken`
    ///   does, and for an `iat` more than a minute in the future; `ExpiredProviderToken` an hour after `iat`.
    mutating func judge(authorization: String?, now: Double) throws(Refusal) -> ProviderToken {
        guard let authorization else { throw Refusal(.missingProviderToken) }
        let token = try verify(authorization)
        let age = now - token.issuedAt
        if age > Double(APNsLimits.providerTokenLifetime) { throw Refusal(.expiredProviderToken) }
        if age < -Self.clockSkew { throw Refusal(.invalidProviderToken) }
        return token
    }

    private mutating func verify(_ authorization: String) throws(Refusal) -> ProviderToken {
        if let known = verified[authorization] { return known }
        guard authorization.utf8.count > Self.scheme.count,
            authorization.prefix(Self.scheme.count).lowercased() == Self.scheme
        else { throw Refusal(.missingProviderToken) }
        let token = try ProviderToken(String(authorization.dropFirst(Self.scheme.count)), keys: keys)
        if verified.count >= Self.capacity { verified = [:] }
        verified[authorization] = token
        return token
    }

    private static let scheme = "bearer "
}
