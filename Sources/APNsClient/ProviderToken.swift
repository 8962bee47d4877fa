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
        let header = Self.base64URL(Array(#"{"alg":"ES256","kid":"\#(credentials.keyID)"}"#.utf8))
        let claims = Self.base64URL(Array(#"{"iss":"\#(credentials.teamID)","iat":\#(issuedAt)}"#.utf8))
        let signed = "\(header).\(claims)"
        text = "\(signed).\(Self.base64URL(try key.signature(of: Array(signed.utf8))))"
    }

    /// RFC 7515: base64url without padding.
    private static func base64URL(_ bytes: [UInt8]) -> String {
        String(
            Data(bytes).base64EncodedString().compactMap { character -> Character? in
                switch character {
                case "+": "-"
                case "/": "_"
                case "=": nil
                default: character
                }
            })
    }
}
