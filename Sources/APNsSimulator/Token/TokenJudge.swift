internal import APNsWire
internal import FoundationEssentials

/// Judges the `authorization` header of requests.
struct TokenJudge: Sendable {
    /// Verified tokens remembered. A provider uses one token per key for 20 minutes and more, so a handful is plenty;
    /// verifying an ES256 signature costs more than all the rest of a request.
    static let capacity = 64
    /// Seconds a token may be issued in the future, for clocks that differ.
    static let clockSkew = 60.0

    private let keys: [String: ProviderKey]
    /// By the whole header, so that one that is known need not be taken apart.
    private var verified: [String: ProviderToken] = [:]
    private var order = Ring<String>(capacity: capacity)

    /// - Parameter keys: of two with one id, the last counts.
    init(keys: [ProviderKey]) {
        self.keys = Dictionary(keys.map { ($0.keyID, $0) }) { _, last in last }
    }

    /// - Throws: `MissingProviderToken` without a `bearer` authorization; `InvalidProviderToken` as `ProviderToken` has
    ///   it, or issued more than a minute in the future; `ExpiredProviderToken` an hour after it was issued.
    mutating func judge(authorization: String?, now: Date) throws(Refusal) -> ProviderToken {
        guard let authorization else { throw Refusal(.missingProviderToken) }
        let token = try verify(authorization)
        let age = now.timeIntervalSince1970 - token.issuedAt
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
        verified[authorization] = token
        if let forgotten = order.append(authorization) { verified[forgotten] = nil }
        return token
    }

    private static let scheme = "bearer "
}
