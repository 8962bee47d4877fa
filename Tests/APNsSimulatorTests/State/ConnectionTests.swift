internal import APNsWire
internal import Foundation
internal import Testing

@testable internal import APNsSimulator

/// The state of a connection at APNs.
struct ConnectionTests {
    private static let path = "/1/apps/\(Bench.bundleID)/all-channels"

    @Test func `a connection has one stream, many after a valid token, and one again after refusals, before it ends`()
        throws
    {
        var bench = try Bench()
        bench.open()
        #expect(try bench.broadcast(on: "AAAA").maximumStreams == 1_000)
        bench.open()
        let bad = ["authorization": ""]
        #expect(try bench.send("GET", Self.path, bad).maximumStreams == nil)
        #expect(try bench.send("GET", Self.path).maximumStreams == 1_000)
        #expect(try bench.send("GET", Self.path).maximumStreams == nil)

        var refused = try (1...ConnectionState.slowAfter).map { _ in try bench.broadcast(on: "AAAA") }
        #expect(refused.last?.maximumStreams == 1)
        #expect(refused.dropLast().allSatisfy { $0.maximumStreams == nil })
        #expect(try bench.send("GET", Self.path).maximumStreams == 1_000)

        refused = try (1...ConnectionState.endAfter + 1).map { _ in try bench.broadcast(on: "AAAA") }
        #expect(refused.firstIndex { $0.endsConnection } == ConnectionState.endAfter - 1)
        #expect(refused.count { $0.endsConnection } == 1)
        #expect(refused.count { $0.maximumStreams != nil } == 1)
    }

    @Test func `a connection belongs to the team and scope of its first key`() throws {
        var bench = try Bench()
        let colleague = Provider(keyID: "COLLEAGUE1", teamID: bench.provider.teamID)
        let rival = Provider(keyID: "RIVALSKEY1", teamID: "RIVALTEAM1")
        let narrow = Provider(keyID: "NARROWKEY1", teamID: bench.provider.teamID)
        var narrowKey = narrow.registered()
        narrowKey.scope = try KeyScope(parsing: "development:com.example.scores")
        bench.state = SimulatorState(
            keys: [
                bench.provider.registered(), colleague.registered(), rival.registered(), narrowKey,
            ])
        bench.open()
        let other = "/1/apps/com.example.other/all-channels"
        #expect(try bench.send("GET", other).status == 200)
        #expect(try bench.send("GET", other, by: colleague).status == 200)
        #expect(try bench.send("GET", other, by: rival).reason == .unrelatedKeyIdInToken)
        #expect(try bench.send("GET", Self.path, by: narrow).reason == .unrelatedKeyIdInToken)
        bench.open()
        #expect(try bench.send("GET", other, by: rival).status == 200)
        #expect(try bench.send("GET", other).reason == .unrelatedKeyIdInToken)
        bench.state.closed(connection: bench.connection)
        #expect(try bench.send("GET", other).status == 200)
    }

    @Test func `a key is valid only for its environment and its topics`() throws {
        var bench = try Bench()
        var key = bench.provider.registered()
        key.scope = try KeyScope(parsing: "development:com.example.Scores,com.example.other")
        bench.state = SimulatorState(keys: [key])
        #expect(try bench.send("GET", Self.path).status == 200)
        #expect(try bench.send("GET", "/1/apps/com.example.third/all-channels").reason == .topicMismatch)
        #expect(try bench.send("GET", Self.path, in: .production).reason == .badEnvironmentKeyInToken)
    }

    @Test func `a token that replaces another on its connection too soon gets 429`() throws {
        var bench = try Bench()
        bench.open()
        #expect(try bench.send("GET", Self.path).status == 200)
        let later = Bench.now + 600
        #expect(try bench.send("GET", Self.path, at: later).reason == .tooManyProviderTokenUpdates)
        let old = ["authorization": "bearer \(try bench.provider.token(at: Bench.now))"]
        #expect(try bench.send("GET", Self.path, old, at: later).status == 200)
        bench.open()
        #expect(try bench.send("GET", Self.path, at: later).status == 200)
        #expect(try bench.send("GET", Self.path, at: Bench.now + 1_800).status == 200)
    }
}

extension Bench {
    /// From here on, requests use a new connection.
    mutating func open() {
        connection += 1
        state.opened(connection: connection)
    }
}

struct ChannelIDsTests {
    @Test func `an ID has sixteen bytes in the layout of a UUID of version 1`() throws {
        var ids = ChannelIDs()
        var random = SeededRandom(seed: 7)
        // RFC 9562 A.1: 2022-02-22 19:22:22 UTC is tick 0x1EC9414C232AB00.
        let date = 1_645_557_742.0
        let bytes = try #require(Data(base64Encoded: ids.make(now: date, using: &random)))
        #expect(bytes.count == 16)
        #expect(Array(bytes.prefix(10)) == [0xC2, 0x32, 0xAB, 0x00, 0x94, 0x14, 0x11, 0xEC, 0, 0])
    }

    @Test func `IDs differ even at the same time, or when the clock goes back`() {
        var ids = ChannelIDs()
        var random = SeededRandom(seed: 7)
        let made = (0..<1_000).map {
            ids.make(now: Bench.now - Double($0), using: &random).prefix(11)
        }
        #expect(Set(made).count == 1_000)
    }
}

/// Tokens beyond those of docs/internals/conformance.json.
struct TokenJudgeTests {
    @Test(
        arguments: [(0, nil), (-3_600, nil), (-3_601, .expiredProviderToken), (60, nil), (61, .invalidProviderToken)]
            as [(Double, APNsReason?)])
    func `a token is accepted for an hour, also when it is remembered`(issued: Double, reason: APNsReason?) throws {
        let provider = Provider()
        var judge = TokenJudge(keys: [provider.registered()])
        let token = try provider.token(at: Bench.now + issued)
        let said = [Bench.now, Bench.now + 7_200].map { refusal(of: token, by: &judge, at: $0) }
        #expect(said == [reason, .expiredProviderToken])
    }

    private func refusal(of token: String, by judge: inout TokenJudge, at now: Double = Bench.now) -> APNsReason? {
        do throws(Refusal) {
            _ = try judge.judge(authorization: "Bearer \(token)", now: now)
            return nil
        } catch {
            return error.reason
        }
    }
}
