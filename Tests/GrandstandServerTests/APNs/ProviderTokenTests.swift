internal import APNsSimulator
internal import APNsWire
internal import Cryptography
internal import Foundation
internal import GrandstandTestKit
internal import HTTP2
internal import Testing

@testable internal import Grandstand
@testable internal import GrandstandServer

/// The provider token's form, and when there is a new one (docs/internals/apns.md section 5).
struct ProviderTokenTests {
    private static let use = UsedKey(credentials: KeyFolder.credentials, environment: .production)
    /// A multiple of 40 minutes, as every token's time of issue is.
    private static let start = 2_400.0 * 700_000

    private static func clock(_ offset: TimeInterval = 0) -> ManualClock {
        ManualClock(Date(timeIntervalSince1970: start + offset))
    }

    private static func tokens(_ folder: KeyFolder, _ clock: ManualClock) -> ProviderTokens {
        ProviderTokens(
            keys: KeyRing(directory: folder.path),
            metrics: ServerMetrics(), logger: LoopSample.logger,
            now: { clock.now })
    }

    @Test func `header, claims and signature have the form that Apple requires`() throws {
        let folder = try KeyFolder()
        let key = try folder.writeKey()
        let text = try Self.tokens(folder, Self.clock(77)).token(for: Self.use).text

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

    @Test func `all replicas send the same bytes for a team and key in a slot, and others in the next`() throws {
        let folder = try KeyFolder()
        try folder.writeKey()
        try folder.writeKey(keyID: "OTHER67890")
        var sent: Set<String> = []
        for offset in [60.0, 1_000, 2_459] {
            sent.insert(try Self.tokens(folder, Self.clock(offset)).token(for: Self.use).text)
        }
        #expect(sent.count == 1)
        let clock = Self.clock(2_459)
        let tokens = Self.tokens(folder, clock)
        sent.insert(try tokens.token(for: Self.use).text)
        #expect(sent.count == 1)
        clock.advance(by: 1)
        sent.insert(try tokens.token(for: Self.use).text)
        #expect(sent.count == 2)
        for (team, key) in [("TEAM567890", "OTHER67890"), ("OTHER67890", "KEY4567890")] {
            let credentials = Credentials(teamID: team, keyID: key)
            sent.insert(try tokens.token(for: UsedKey(credentials: credentials, environment: .production)).text)
        }
        #expect(sent.count == 4)
    }

    @Test func `neither a token nor a key can be printed by accident`() throws {
        let folder = try KeyFolder()
        let key = try folder.writeKey()
        let token = try Self.tokens(folder, Self.clock()).token(for: Self.use)
        let signingKey = try KeyRing(directory: folder.path).key(Self.use.credentials.keyID).get()
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

/// A key that APNs refuses: the simulator has another key with the same ID.
@Suite(.timeLimit(.minutes(20)))
struct RefusedKeyTests {
    /// A simulator, a client with a wrong key, and a function that replaces the client's key.
    private struct Scene {
        let pair: ClientAndSimulator
        let folder: KeyFolder
        let client: APNsClient
        let clock: ManualClock

        func send() async -> APNsAnswer<Void> {
            await client.send(ClientAndSimulator.message(to: "dGVzdA=="))
        }

        /// Replaces the wrong key by the simulator's key.
        func putRightKey() throws {
            try folder.write(
                try String(contentsOfFile: pair.addresses.p8File, encoding: .utf8), keyID: SimulatorIdentity.keyID,
                modifiedAt: 2_000_000)
        }
    }

    private static func play(_ body: (Scene) async throws -> Void) async throws {
        try await ClientAndSimulator.with { pair in
            let folder = try KeyFolder()
            try folder.writeKey(keyID: SimulatorIdentity.keyID)
            let clock = ManualClock(Date())
            let client = try ClientAndSimulator.client(pair.addresses, keys: folder.path, now: { clock.now })
            try await ending(with: client.close) {
                try await body(Scene(pair: pair, folder: folder, client: client, clock: clock))
            }
        }
    }

    @Test func `after two refusals requests of any kind wait for three seconds`() async throws {
        try await Self.play { scene in
            let first = try #require(await scene.send().refusal)
            #expect(first.reason == .invalidProviderToken && !first.isHeldBack && first.retryAfter == nil)
            let second = try #require(await scene.send().refusal)
            #expect(!second.isHeldBack && second.retryAfter == 3)
            for _ in 0..<50 {
                let refusal = try #require(await scene.send().refusal)
                #expect(refusal.isHeldBack && refusal.retryAfter == 3)
            }
            let list = try #require(await scene.client.listChannels(at: ClientAndSimulator.address).refusal)
            #expect(list.isHeldBack && list.reason == .invalidProviderToken)
            let token = try #require(DeviceToken(bytes: [1, 2, 3, 4]))
            let push = DevicePush(
                token: token, body: [], priority: .immediate, expiration: 0, requestID: UUID(), collapseID: nil)
            #expect(await scene.client.push(push, to: ClientAndSimulator.address).refusal?.isHeldBack == true)
            #expect(scene.pair.simulator.journal().count == 2)

            // A refusal in one environment does not hold back requests to the other environment.
            var production = ClientAndSimulator.address
            production.environment = .production
            #expect(await scene.client.listChannels(at: production).refusal?.isHeldBack == false)
        }
    }

    @Test(arguments: [
        APNsReason.invalidProviderToken, .expiredProviderToken, .tooManyProviderTokenUpdates, .topicMismatch,
    ])
    func `if APNs accepts the same key again, the refusal ends, and another refusal holds no request back`(
        _ reason: APNsReason
    ) async throws {
        let clock = ManualClock(Date())
        try await ClientAndSimulator.with(now: { clock.now }) { pair in
            func list() async -> APNsAnswer<ChannelListing> {
                await pair.client.listChannels(at: ClientAndSimulator.address)
            }
            let isOfKey = reason != .topicMismatch
            try pair.refuse(reason, times: isOfKey ? 3 : 8)
            for _ in 0..<2 { #expect(await list().refusal?.isHeldBack == false) }
            clock.advance(by: 3)
            #expect(await list().refusal?.isHeldBack == false)
            #expect(await list().refusal?.isHeldBack == isOfKey)
            clock.advance(by: 3)
            #expect(await list().receipt != nil)
            #expect(pair.client.reachability(of: .development).state == .reachable)
            #expect(await list().receipt != nil)
        }
    }

    @Test func `a refusal is reported with its time at each probe, and ends with another key`() async throws {
        try await Self.play { scene in
            func news() -> [KeyRefusal?] { scene.client.tokens.takeNews().map(\.refusal) }
            _ = await scene.send()
            #expect(news().isEmpty)
            _ = await scene.send()
            let refusal = KeyRefusal(reason: .invalidProviderToken, since: scene.clock.now)
            #expect(news() == [refusal] && news().isEmpty)
            #expect(
                scene.client.reachability(of: .development)
                    == .init(state: .refused, reason: refusal.sentence(of: ClientAndSimulator.use.credentials)))
            #expect(scene.client.reachability(of: .production).state == .notKnown)
            scene.clock.advance(by: 3)
            _ = await scene.send()
            #expect(news() == [refusal])
            try scene.putRightKey()
            #expect(await scene.client.listChannels(at: ClientAndSimulator.address).receipt != nil)
            #expect(news() == [nil] && news().isEmpty)
            #expect(scene.client.reachability(of: .development).state == .reachable)
        }
    }
}
