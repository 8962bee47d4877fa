internal import APNsSimulator
internal import APNsWire
internal import Foundation
internal import Grandstand
internal import GrandstandTestKit
internal import Testing

@testable internal import GrandstandServer

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

        /// The number of broadcasts that the simulator received.
        var asked: Int { pair.simulator.journal().count { $0.request.path.hasPrefix("/4/") } }

        /// Replaces the wrong key by the simulator's key.
        func putRightKey() throws {
            try folder.write(
                try String(contentsOfFile: pair.addresses.keyFile, encoding: .utf8), keyID: SimulatorIdentity.keyID,
                modifiedAt: 2_000_000)
        }
    }

    private static func play(_ body: (Scene) async throws -> Void) async throws {
        try await ClientAndSimulator.with { pair in
            let folder = try KeyFolder()
            try folder.writeKey(keyID: SimulatorIdentity.keyID)
            let clock = ManualClock(Date())
            let client = try ClientAndSimulator.client(pair.addresses, keys: folder.path, now: { clock.now })
            do {
                try await body(Scene(pair: pair, folder: folder, client: client, clock: clock))
            } catch {
                await client.close()
                throw error
            }
            await client.close()
        }
    }

    @Test func `after two refusals one request of any kind is sent every three seconds`() async throws {
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
                token: token, body: [], priority: .immediate, expiration: 0, requestID: UUID())
            #expect(await scene.client.push(push, to: ClientAndSimulator.address).refusal?.isHeldBack == true)
            #expect(scene.pair.simulator.journal().count == 2)

            for probe in 1...3 {
                scene.clock.advance(by: 3)
                let refusal = try #require(await scene.send().refusal)
                #expect(!refusal.isHeldBack && refusal.retryAfter == 3)
                #expect(await scene.send().refusal?.isHeldBack == true)
                #expect(scene.asked == 2 + probe)
            }
            // A refusal in one environment does not hold back requests to the other environment.
            var production = ClientAndSimulator.address
            production.environment = .production
            #expect(await scene.client.listChannels(at: production).refusal?.isHeldBack == false)
        }
    }

    @Test func `the refusal is reported with its time, and ends when the file has another key`() async throws {
        try await Self.play { scene in
            let began = scene.clock.now
            #expect(scene.client.keyFile(of: ClientAndSimulator.use).state == .ok)
            for _ in 0..<3 { _ = await scene.send() }
            let refusal = KeyRefusal(reason: .invalidProviderToken, since: began)
            let file = scene.client.keyFile(of: ClientAndSimulator.use)
            #expect(file.state == .refused && file.refusal == refusal)
            #expect(
                scene.client.reachability(of: .development)
                    == .init(state: .refused, reason: refusal.finding(of: ClientAndSimulator.use.credentials)))
            #expect(scene.client.reachability(of: .production).state == .notKnown)

            try scene.putRightKey()
            #expect(scene.client.keyFile(of: ClientAndSimulator.use).state == .ok)
            #expect(scene.client.reachability(of: .development).state == .reachable)
            #expect(await scene.client.listChannels(at: ClientAndSimulator.address).receipt != nil)
        }
    }

    @Test(arguments: [APNsReason.invalidProviderToken, .expiredProviderToken, .tooManyProviderTokenUpdates])
    func `if APNs accepts the same key again, the refusal ends`(_ reason: APNsReason) async throws {
        let clock = ManualClock(Date())
        try await ClientAndSimulator.with(now: { clock.now }) { pair in
            try pair.refuse(reason, times: 3)
            for _ in 0..<2 { _ = await pair.client.listChannels(at: ClientAndSimulator.address) }
            clock.advance(by: 3)
            #expect(await pair.client.listChannels(at: ClientAndSimulator.address).refusal?.isHeldBack == false)
            #expect(await pair.client.listChannels(at: ClientAndSimulator.address).refusal?.isHeldBack == true)
            clock.advance(by: 3)
            #expect(await pair.client.listChannels(at: ClientAndSimulator.address).receipt != nil)
            #expect(pair.client.keyFile(of: ClientAndSimulator.use).state == .ok)
            #expect(await pair.client.listChannels(at: ClientAndSimulator.address).receipt != nil)
        }
    }

    @Test func `a refusal that does not concern the key holds no request back`() async throws {
        try await ClientAndSimulator.with { pair in
            try pair.refuse(.topicMismatch, times: 20)
            for _ in 0..<20 {
                #expect(await pair.client.listChannels(at: ClientAndSimulator.address).refusal?.isHeldBack == false)
            }
            #expect(await pair.client.listChannels(at: ClientAndSimulator.address).receipt != nil)
        }
    }

    @Test func `each refused probe is news for all replicas, and so is the end of the refusal`() async throws {
        try await Self.play { scene in
            func news() -> [KeyRefusal?] { scene.client.standings.news().map(\.refusal) }
            _ = await scene.send()
            #expect(news().isEmpty)
            _ = await scene.send()
            let refusal = KeyRefusal(reason: .invalidProviderToken, since: scene.clock.now)
            #expect(news() == [refusal] && news().isEmpty)
            scene.clock.advance(by: 3)
            _ = await scene.send()
            #expect(news() == [refusal])
            // The file of a refused key is looked at without a request, too.
            try scene.putRightKey()
            #expect(news() == [nil] && news().isEmpty)
            scene.clock.advance(by: 3)
            #expect(await scene.client.listChannels(at: ClientAndSimulator.address).receipt != nil)
            #expect(news() == [nil])
        }
    }
}
