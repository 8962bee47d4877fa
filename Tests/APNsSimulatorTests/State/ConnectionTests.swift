internal import APNsWire
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
