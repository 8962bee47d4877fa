internal import APNsWire
internal import Cryptography
internal import FoundationEssentials
internal import JSON

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
            let header = Self.decode(parts[0]).flatMap(JSONValue.init(object:)),
            let claims = Self.decode(parts[1]).flatMap(JSONValue.init(object:)),
            let signature = Self.decode(parts[2]),
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
    private static func decode(_ text: Substring.UTF8View) -> [UInt8]? {
        let text = String(Substring(text))
        guard text.utf8.allSatisfy({ !"+/=".utf8.contains($0) }) else { return nil }
        let padding = String(repeating: "=", count: (4 - text.utf8.count % 4) % 4)
        let standard = text.replacing("-", with: "+").replacing("_", with: "/") + padding
        return Data(base64Encoded: standard).map { Array($0) }
    }
}
