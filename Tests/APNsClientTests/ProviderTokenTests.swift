internal import Crypto
internal import Foundation
internal import Grandstand
internal import Testing

@testable internal import APNsClient

/// The provider token's form, and when there is a new one (apns-contract section 5).
struct ProviderTokenTests {
    private static let credentials = KeyFolder.credentials
    /// The start of a 40-minute window.
    private static let window = 2_400.0 * 700_000

    @Test func `header, claims and signature are as Apple wants them`() throws {
        let folder = try KeyFolder()
        let key = try folder.writeKey()
        let clock = HeldClock(Self.window + 17)
        let tokens = ProviderTokens(keys: KeyRing(directory: folder.path), now: { clock.now })
        let text = try tokens.token(for: Self.credentials).text

        let parts = text.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        try #require(parts.count == 3)
        #expect(parts.allSatisfy { !$0.contains("=") && !$0.contains("+") && !$0.contains("/") })
        #expect(try Self.decode(parts[0]) == Data(#"{"alg":"ES256","kid":"KEY4567890"}"#.utf8))
        // iat is a JSON number; there is no exp.
        #expect(try Self.decode(parts[1]) == Data(#"{"iss":"TEAM567890","iat":1680000000}"#.utf8))
        let signature = Array(try Self.decode(parts[2]))
        #expect(key.publicKey.isValid(signature, of: Array("\(parts[0]).\(parts[1])".utf8)))
    }

    @Test func `a token lasts for its 40-minute window and is never older`() throws {
        let folder = try KeyFolder()
        try folder.writeKey()
        let clock = HeldClock(Self.window + 1)
        let tokens = ProviderTokens(keys: KeyRing(directory: folder.path), now: { clock.now })
        let first = try tokens.token(for: Self.credentials)
        clock.advance(by: 2_398.9)
        #expect(try tokens.token(for: Self.credentials).text == first.text)
        clock.advance(by: 0.1)
        let second = try tokens.token(for: Self.credentials)
        #expect(second.text != first.text)
        #expect(second.issuedAt - first.issuedAt == 2_400)
        #expect(second.issuedAt == Int(clock.now.timeIntervalSince1970))
    }

    @Test func `processes that share a key claim the same time of issue`() throws {
        let folder = try KeyFolder()
        try folder.writeKey()
        let issued = try [3.0, 1_200, 2_399].map { offset in
            let clock = HeldClock(Self.window + offset)
            return try ProviderTokens(keys: KeyRing(directory: folder.path), now: { clock.now })
                .token(for: Self.credentials).issuedAt
        }
        #expect(issued == Array(repeating: Int(Self.window), count: 3))
    }

    @Test func `a token called expired is replaced once it is 20 minutes old, and one replacement serves all`() throws {
        let folder = try KeyFolder()
        try folder.writeKey()
        let clock = HeldClock(Self.window + 1_199)
        let tokens = ProviderTokens(keys: KeyRing(directory: folder.path), now: { clock.now })
        let first = try tokens.token(for: Self.credentials)
        // APNs would answer TooManyProviderTokenUpdates.
        #expect(try !tokens.replaceExpired(first, of: Self.credentials))
        #expect(try tokens.token(for: Self.credentials).text == first.text)

        clock.advance(by: 1)
        #expect(try tokens.replaceExpired(first, of: Self.credentials))
        let second = try tokens.token(for: Self.credentials)
        #expect(second.issuedAt == Int(Self.window) + 1_200)
        // Another caller that was refused with the first one takes the second.
        #expect(try tokens.replaceExpired(first, of: Self.credentials))
        #expect(try tokens.token(for: Self.credentials).text == second.text)
        #expect(try !tokens.replaceExpired(second, of: Self.credentials))
    }

    @Test func `each team and key has its own`() throws {
        let folder = try KeyFolder()
        try folder.writeKey()
        try folder.writeKey(keyID: "OTHER67890")
        let tokens = ProviderTokens(
            keys: KeyRing(directory: folder.path), now: { Date(timeIntervalSince1970: Self.window) })
        let texts = try [
            Self.credentials, Credentials(teamID: "TEAM567890", keyID: "OTHER67890"),
            Credentials(teamID: "OTHER67890", keyID: "KEY4567890"),
        ].map { try tokens.token(for: $0).text }
        #expect(Set(texts).count == 3)
    }

    @Test func `without a key file there is no token`() throws {
        let folder = try KeyFolder()
        let tokens = ProviderTokens(keys: KeyRing(directory: folder.path), now: { Date() })
        #expect(throws: SigningKey.Fault.self) { try tokens.token(for: Self.credentials) }
        try folder.writeKey()
        _ = try tokens.token(for: Self.credentials)
    }

    /// base64url without padding.
    private static func decode(_ text: String) throws -> Data {
        let padded = text.replacing("-", with: "+").replacing("_", with: "/")
        return try #require(Data(base64Encoded: padded + String(repeating: "=", count: (4 - padded.count % 4) % 4)))
    }
}
