package import APNsWire
internal import Cryptography
internal import FoundationEssentials
internal import JSON

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

/// A provider token with a valid signature (docs/internals/apns.md section 5).
struct ProviderToken: Sendable {
    var key: ProviderKey
    /// Seconds since 1970.
    var issuedAt: Double

    var teamID: String { key.teamID }

    /// Parses a JWT and verifies everything that does not change with time.
    ///
    /// - Throws: `InvalidProviderToken` unless it is an ES256 token of a known key and of that key's team, with a
    ///   number as `iat` and a valid signature.
    init(_ token: String, keys: [String: ProviderKey]) throws(Refusal) {
        let parts = token.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count == 3,
            let header = Self.decodeBase64(parts[0]).flatMap(JSONValue.init(object:)),
            let claims = Self.decodeBase64(parts[1]).flatMap(JSONValue.init(object:)),
            let signature = Self.decodeBase64(parts[2]),
            header["alg"]?.string == "ES256",
            let keyID = header["kid"]?.string, let key = keys[keyID],
            claims["iss"]?.string == key.teamID,
            let issuedAt = claims["iat"]?.finite,
            key.key.isSignature(signature, of: Array(token.utf8.prefix(parts[0].count + 1 + parts[1].count)))
        else { throw Refusal(.invalidProviderToken) }
        self.key = key
        self.issuedAt = issuedAt
    }

    /// Decodes base64url without padding (RFC 7515 section 2); `nil` for other text.
    private static func decodeBase64(_ text: Substring.UTF8View) -> [UInt8]? {
        let text = String(Substring(text))
        guard text.utf8.allSatisfy({ !"+/=".utf8.contains($0) }) else { return nil }
        let padding = String(repeating: "=", count: (4 - text.utf8.count % 4) % 4)
        let standard = text.replacing("-", with: "+").replacing("_", with: "/") + padding
        return Data(base64Encoded: standard).map { Array($0) }
    }
}

/// The public half of a provider key, and its team.
struct ProviderKey: Sendable {
    /// The `kid` of its tokens.
    let keyID: String
    /// The `iss` of its tokens.
    let teamID: String
    /// Where the key may be used. Apple's keys have a scope since February 2025 (docs/internals/apns.md section 5).
    var scope = KeyScope()
    /// Only its public half is used.
    let key: PrivateKey

    /// Whether both keys may be used on one connection: they must have the same team and the same scope.
    func isRelated(to other: ProviderKey) -> Bool {
        keyID == other.keyID || teamID == other.teamID && scope == other.scope
    }
}

/// The scope of a provider key (docs/internals/apns.md section 5): unrestricted, as all keys were until 2025; one
/// environment; or one environment and some topics.
package struct KeyScope: Sendable, Hashable {
    /// `nil`: both environments.
    package var environment: APNsEnvironment?
    /// Bundle IDs in lower case; `nil`: all apps of the team.
    package var topics: Set<String>?

    /// No restriction.
    package init() {}

    /// Parses `development`, `production:com.example.a,com.example.b` or `:com.example.a`.
    ///
    /// - Throws: an error that says what to write, if the environment is unknown or a topic is empty.
    package init(parsing text: String) throws(SimulatorError) {
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        if let name = parts.first, !name.isEmpty { environment = try Simulator.environment(name) }
        guard parts.count == 2 else { return }
        let topics = parts[1].split(separator: ",", omittingEmptySubsequences: false).map { $0.lowercased() }
        guard topics.allSatisfy({ !$0.isEmpty }) else {
            throw SimulatorError("\"\(text)\" has an empty topic: write environment:topic,topic.")
        }
        self.topics = Set(topics)
    }

    func allows(topic: String) -> Bool { topics?.contains(topic) ?? true }

    /// Parses a list of `KEYID=SCOPE`. If a key occurs twice, the last one counts.
    ///
    /// - Throws: an error that says what to write.
    package static func byKeyID(parsing list: [String]) throws(SimulatorError) -> [String: KeyScope] {
        var scopes: [String: KeyScope] = [:]
        for text in list {
            let parts = text.split(separator: "=", maxSplits: 1).map(String.init)
            guard parts.count == 2 else {
                throw SimulatorError(
                    "\"\(text)\" is not a scope of a key: write KEYID=development, or KEYID=production:topic,topic.")
            }
            scopes[parts[0]] = try KeyScope(parsing: parts[1])
        }
        return scopes
    }
}
