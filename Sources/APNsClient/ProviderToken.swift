internal import FoundationEssentials
internal import Grandstand

/// A provider token: the JWT that names team and key (Apple, "Establishing a token-based connection to APNs").
struct ProviderToken: Sendable {
    /// Seconds since 1970.
    let issuedAt: Int
    let text: String

    /// Tokens are issued at the start of such a window, the same for every process that shares a key: APNs sees few
    /// different ones, none older than 40 minutes; it accepts 60 and wants at least 20 between two (apns-contract C15).
    static let window = 2_400

    init(credentials: Credentials, key: SigningKey, issuedAt: Int) throws {
        self.issuedAt = issuedAt
        let header = Base64URL.text(#"{"alg":"ES256","kid":"\#(credentials.keyID)"}"#.utf8)
        let claims = Base64URL.text(#"{"iss":"\#(credentials.teamID)","iat":\#(issuedAt)}"#.utf8)
        let signed = "\(header).\(claims)"
        text = "\(signed).\(Base64URL.text(try key.signature(of: Array(signed.utf8))))"
    }
}
