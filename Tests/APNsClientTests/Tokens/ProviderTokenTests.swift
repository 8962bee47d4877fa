internal import CoreMetrics
internal import Cryptography
internal import Foundation
internal import Grandstand
internal import HTTP2
internal import Testing

@testable internal import APNsClient

/// The provider token's form, and when there is a new one (docs/internals/apns.md section 5).
struct ProviderTokenTests {
    private static let credentials = KeyFolder.credentials
    /// A multiple of ten minutes. A token's time of issue is rounded down to such a multiple.
    private static let start = 600.0 * 2_800_000

    private static func tokens(
        _ folder: KeyFolder, _ clock: HeldClock, store: (any ProviderTokenStore)? = nil
    ) -> ProviderTokens {
        ProviderTokens(
            keys: KeyRing(directory: folder.path), store: store,
            metrics: CallMetrics(factory: NOOPMetricsHandler.instance), logger: ClientAndSimulator.logger,
            now: { clock.now })
    }

    @Test func `header, claims and signature have the form that Apple requires`() async throws {
        let folder = try KeyFolder()
        let key = try folder.writeKey()
        let text = try await Self.tokens(folder, HeldClock(Self.start + 17)).token(for: Self.credentials).text

        let parts = text.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        try #require(parts.count == 3)
        #expect(parts.allSatisfy { !$0.contains("=") && !$0.contains("+") && !$0.contains("/") })
        #expect(try Self.decode(parts[0]) == Data(#"{"alg":"ES256","kid":"KEY4567890"}"#.utf8))
        // iat is a JSON number; there is no exp.
        #expect(try Self.decode(parts[1]) == Data(#"{"iss":"TEAM567890","iat":1680000000}"#.utf8))
        let signature = Array(try Self.decode(parts[2]))
        #expect(key.isSignature(signature, of: Array("\(parts[0]).\(parts[1])".utf8)))
    }

    @Test func `a token is renewed 50 minutes after its issue, and no call waits for it`() async throws {
        let folder = try KeyFolder()
        try folder.writeKey()
        let clock = HeldClock(Self.start + 1)
        let tokens = Self.tokens(folder, clock)
        let first = try await tokens.token(for: Self.credentials)
        #expect(first.issuedAt == Int(Self.start))
        clock.advance(by: 2_998.9)
        #expect(try await tokens.token(for: Self.credentials) == first)
        clock.advance(by: 0.1)
        #expect(try await tokens.token(for: Self.credentials) == first, "the old one serves meanwhile")
        await tokens.settled(Self.credentials)
        let second = try await tokens.token(for: Self.credentials)
        #expect(second.text != first.text)
        #expect(second.issuedAt - first.issuedAt == 3_000)
    }

    @Test func `a token that APNs would refuse is not sent while a new one is being made`() async throws {
        let folder = try KeyFolder()
        try folder.writeKey()
        let clock = HeldClock(Self.start)
        let tokens = Self.tokens(folder, clock)
        _ = try await tokens.token(for: Self.credentials)
        clock.advance(by: 3_600)
        #expect(try await tokens.token(for: Self.credentials).issuedAt == Int(Self.start) + 3_600)
    }

    @Test func `processes that start within the same ten minutes use the same time of issue`() async throws {
        let folder = try KeyFolder()
        try folder.writeKey()
        for offset in [3.0, 300, 599] {
            let token = try await Self.tokens(folder, HeldClock(Self.start + offset)).token(for: Self.credentials)
            #expect(token.issuedAt == Int(Self.start))
        }
    }

    @Test
    func
        `an expired token is replaced if it is at least 20 minutes old, and one replacement is enough for all callers`()
        async throws
    {
        let folder = try KeyFolder()
        try folder.writeKey()
        let clock = HeldClock(Self.start)
        let tokens = Self.tokens(folder, clock)
        let first = try await tokens.token(for: Self.credentials)
        clock.advance(by: 1_199)
        // The first token is less than 20 minutes old, so APNs would answer a new one with TooManyProviderTokenUpdates.
        #expect(try await !tokens.replaceExpired(first, of: Self.credentials))
        #expect(try await tokens.token(for: Self.credentials) == first)

        clock.advance(by: 1)
        #expect(try await tokens.replaceExpired(first, of: Self.credentials))
        let second = try await tokens.token(for: Self.credentials)
        #expect(second.issuedAt == Int(Self.start) + 1_200)
        // Another caller that was refused with the first token gets the second token.
        #expect(try await tokens.replaceExpired(first, of: Self.credentials))
        #expect(try await tokens.token(for: Self.credentials) == second)
        #expect(try await !tokens.replaceExpired(second, of: Self.credentials))
    }

    @Test func `after a change that was too soon the previous token is used, and no new one is made for 20 minutes`()
        async throws
    {
        let folder = try KeyFolder()
        try folder.writeKey()
        let clock = HeldClock(Self.start)
        let tokens = Self.tokens(folder, clock)
        let first = try await tokens.token(for: Self.credentials)
        clock.advance(by: 1_200)
        #expect(try await tokens.replaceExpired(first, of: Self.credentials))
        let second = try await tokens.token(for: Self.credentials)
        #expect(tokens.keepOld(insteadOf: second, of: Self.credentials))
        #expect(try await tokens.token(for: Self.credentials) == first)
        // The second token was refused for two callers. The first caller went back to the first token, and the other
        // caller finds that token already in use.
        #expect(tokens.keepOld(insteadOf: second, of: Self.credentials))
        #expect(try await tokens.token(for: Self.credentials) == first)
        clock.advance(by: 1_199)
        #expect(try await tokens.token(for: Self.credentials) == first)
    }

    @Test func `without a previous token there is none to go back to`() async throws {
        let folder = try KeyFolder()
        try folder.writeKey()
        let tokens = Self.tokens(folder, HeldClock(Self.start))
        let only = try await tokens.token(for: Self.credentials)
        #expect(!tokens.keepOld(insteadOf: only, of: Self.credentials))
        #expect(try await tokens.token(for: Self.credentials) == only)
    }

    @Test func `a changed key file gives a new token within seconds`() async throws {
        let folder = try KeyFolder()
        try folder.writeKey(modifiedAt: 1_000)
        let clock = HeldClock(Self.start)
        let tokens = Self.tokens(folder, clock)
        let first = try await tokens.token(for: Self.credentials)
        try folder.writeKey(modifiedAt: 2_000)
        #expect(try await tokens.token(for: Self.credentials) == first)
        clock.advance(by: 2)
        let second = try await tokens.token(for: Self.credentials)
        #expect(second.fingerprint != first.fingerprint)

        try folder.writeKey(modifiedAt: 2_000)
        tokens.checkFiles()
        #expect(try await tokens.token(for: Self.credentials).fingerprint != second.fingerprint, "on demand: at once")
    }

    @Test func `each team and key has its own token`() async throws {
        let folder = try KeyFolder()
        try folder.writeKey()
        try folder.writeKey(keyID: "OTHER67890")
        let tokens = Self.tokens(folder, HeldClock(Self.start))
        var texts: Set<String> = []
        for credentials in [
            Self.credentials, Credentials(teamID: "TEAM567890", keyID: "OTHER67890"),
            Credentials(teamID: "OTHER67890", keyID: "KEY4567890"),
        ] {
            texts.insert(try await tokens.token(for: credentials).text)
        }
        #expect(texts.count == 3)
    }

    @Test func `without a key file there is no token`() async throws {
        let folder = try KeyFolder()
        let tokens = Self.tokens(folder, HeldClock(Self.start))
        await #expect(throws: SigningKey.Fault.self) { try await tokens.token(for: Self.credentials) }
        try folder.writeKey()
        _ = try await tokens.token(for: Self.credentials)
    }

    @Test func `neither a token nor a key can be printed by accident`() async throws {
        let folder = try KeyFolder()
        let key = try folder.writeKey()
        let token = try await Self.tokens(folder, HeldClock(Self.start)).token(for: Self.credentials)
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
