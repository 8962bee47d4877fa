internal import FoundationEssentials
internal import Grandstand

/// A provider token: the JWT with team and key (Apple, "Establishing a token-based connection to APNs").
struct ProviderToken: Sendable, Hashable {
    /// Seconds since 1970.
    let issuedAt: Int
    let text: String
    /// The fingerprint of the key that signed this token.
    let fingerprint: [UInt8]

    /// The same arguments always give the same text.
    init(credentials: Credentials, key: SigningKey, issuedAt: Int) throws {
        self.issuedAt = issuedAt
        fingerprint = key.fingerprint
        let header = Base64URL.text(#"{"alg":"ES256","kid":"\#(credentials.keyID)"}"#.utf8)
        let claims = Base64URL.text(#"{"iss":"\#(credentials.teamID)","iat":\#(issuedAt)}"#.utf8)
        let signed = "\(header).\(claims)"
        text = "\(signed).\(Base64URL.text(try key.signature(of: Array(signed.utf8))))"
    }
}

extension ProviderToken: CustomStringConvertible, CustomDebugStringConvertible {
    /// The description does not contain the text of the token, because the text is a secret.
    var description: String { "provider token issued at \(issuedAt)" }
    var debugDescription: String { description }
}
