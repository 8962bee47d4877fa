internal import Cryptography
internal import Foundation

@testable internal import APNsSimulator

/// A provider with its own key. It signs valid and invalid tokens.
struct Provider: Sendable {
    var keyID: String
    var teamID: String
    private let key: PrivateKey

    init(keyID: String = "TESTKEY001", teamID: String = "TESTTEAM01") {
        self.keyID = keyID
        self.teamID = teamID
        guard let key = try? PrivateKey.p256() else { preconditionFailure("no key") }
        self.key = key
    }

    /// A provider with the key of a `.p8` file.
    init(keyID: String, teamID: String, file: String) throws {
        self.keyID = keyID
        self.teamID = teamID
        key = try PrivateKey.p256(pem: readFile(file))
    }

    func registered() -> ProviderKey {
        ProviderKey(keyID: keyID, teamID: teamID, key: key)
    }

    /// A valid token, issued at this time in seconds since 1970.
    func token(at seconds: Double) throws -> String {
        try token(
            header: #"{"alg":"ES256","kid":"\#(keyID)"}"#,
            claims: #"{"iss":"\#(teamID)","iat":\#(Int(seconds))}"#)
    }

    /// A token with any content, signed with the provider's key.
    func token(header: String, claims: String) throws -> String {
        let signed = "\(Self.encode(Data(header.utf8))).\(Self.encode(Data(claims.utf8)))"
        return "\(signed).\(Self.encode(Data(try key.signature(of: Array(signed.utf8)))))"
    }

    private static func encode(_ data: Data) -> String {
        data.base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }
}
