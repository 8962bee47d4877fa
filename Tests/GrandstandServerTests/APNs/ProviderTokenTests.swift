internal import Cryptography
internal import Foundation
internal import Grandstand
internal import GrandstandTestKit
internal import HTTP2
internal import Testing

@testable internal import GrandstandServer

/// The provider token's form, and when there is a new one (docs/internals/apns.md section 5).
struct ProviderTokenTests {
    private static let credentials = KeyFolder.credentials
    /// A multiple of 40 minutes, as every token's time of issue is.
    private static let start = 2_400.0 * 700_000

    private static func clock(_ offset: TimeInterval = 0) -> ManualClock {
        ManualClock(Date(timeIntervalSince1970: start + offset))
    }

    private static func tokens(_ folder: KeyFolder, _ clock: ManualClock) -> ProviderTokens {
        ProviderTokens(
            keys: KeyRing(directory: folder.path),
            metrics: ServerMetrics(), logger: ClientAndSimulator.logger,
            now: { clock.now })
    }

    @Test func `header, claims and signature have the form that Apple requires`() throws {
        let folder = try KeyFolder()
        let key = try folder.writeKey()
        let text = try Self.tokens(folder, Self.clock(77)).token(for: Self.credentials).text

        let parts = text.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        try #require(parts.count == 3)
        #expect(parts.allSatisfy { !$0.contains("=") && !$0.contains("+") && !$0.contains("/") })
        #expect(try Self.decode(parts[0]) == Data(#"{"alg":"ES256","kid":"KEY4567890"}"#.utf8))
        // iat is a JSON number; there is no exp.
        #expect(try Self.decode(parts[1]) == Data(#"{"iss":"TEAM567890","iat":1680000000}"#.utf8))
        let signature = Array(try Self.decode(parts[2]))
        #expect(key.isSignature(signature, of: Array("\(parts[0]).\(parts[1])".utf8)))
    }

    @Test func `a token is never in APNs' future, is changed after 20 minutes at the earliest, and is far from expiry`()
    {
        var issued: Set<Int> = []
        for now in stride(from: Int(Self.start), to: Int(Self.start) + 100_000, by: 7) {
            let age = now - ProviderTokens.timeOfIssue(now)
            #expect((60..<3_000).contains(age))
            issued.insert(ProviderTokens.timeOfIssue(now))
        }
        #expect(zip(issued.sorted(), issued.sorted().dropFirst()).allSatisfy { $1 - $0 >= 1_200 })
    }

    @Test func `all replicas send the same bytes in a slot, and others in the next`() throws {
        let folder = try KeyFolder()
        try folder.writeKey()
        var sent: Set<String> = []
        for offset in [60.0, 1_000, 2_459] {
            sent.insert(try Self.tokens(folder, Self.clock(offset)).token(for: Self.credentials).text)
        }
        #expect(sent.count == 1)
        let clock = Self.clock(2_459)
        let tokens = Self.tokens(folder, clock)
        sent.insert(try tokens.token(for: Self.credentials).text)
        #expect(sent.count == 1)
        clock.advance(by: 1)
        sent.insert(try tokens.token(for: Self.credentials).text)
        #expect(sent.count == 2)
    }

    @Test func `each team and key has its own token`() throws {
        let folder = try KeyFolder()
        try folder.writeKey()
        try folder.writeKey(keyID: "OTHER67890")
        let tokens = Self.tokens(folder, Self.clock())
        var texts: Set<String> = []
        for credentials in [
            Self.credentials, Credentials(teamID: "TEAM567890", keyID: "OTHER67890"),
            Credentials(teamID: "OTHER67890", keyID: "KEY4567890"),
        ] {
            texts.insert(try tokens.token(for: credentials).text)
        }
        #expect(texts.count == 3)
    }

    @Test func `neither a token nor a key can be printed by accident`() throws {
        let folder = try KeyFolder()
        let key = try folder.writeKey()
        let token = try Self.tokens(folder, Self.clock()).token(for: Self.credentials)
        let signingKey = try KeyRing(directory: folder.path).key(Self.credentials.keyID).get()
        let header = HTTP2Header("authorization", "bearer \(token.text)", indexing: .never)
        let printed = "\(token) \(signingKey) \(header) \([header]) \(String(reflecting: token))"
        #expect(!printed.contains(token.text))
        for line in try key.pem.split(separator: "\n") { #expect(!printed.contains(line)) }
        #expect(printed.contains("issued at"))
    }

    /// base64url without padding.
    private static func decode(_ text: String) throws -> Data {
        let padded = text.replacing("-", with: "+").replacing("_", with: "/")
        return try #require(Data(base64Encoded: padded + String(repeating: "=", count: (4 - padded.count % 4) % 4)))
    }
}
