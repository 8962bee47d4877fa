internal import APNsSimulator
internal import APNsWire
internal import Grandstand
internal import GrandstandTestKit
internal import HTTP2
internal import Testing

@testable internal import GrandstandServer

/// The pool against servers that refuse, cannot be reached and come back. `FailureTableTests` has the failure table of
/// docs/internals/http2.md.
@Suite(.timeLimit(.minutes(20)))
struct PoolTests {
    private static let address = ClientAndSimulator.address

    @Test func `a refused request goes to another connection`() async throws {
        try await ClientAndSimulator.with { pair in
            let channelID = try await pair.makeChannel()
            // Requests at the same time open the second connection.
            while pair.connections.count < 2 {
                async let first = pair.send(to: channelID)
                async let second = pair.send(to: channelID)
                _ = try await (first.value(), second.value())
            }
            try pair.hold(#""operation": "broadcast""#)
            async let held = pair.send(to: channelID)
            let busy = try await pair.simulator.awaitRequests(1) { $0.fate == .held }
            // The idle connection is chosen and refuses. Only because it has just refused, the busy one is next.
            try pair.simulator.addFaults(#"{"faults": [{"action": "refuseStream", "times": 1}]}"#)
            _ = try await pair.client.listChannels(at: Self.address).value()
            let tries = pair.simulator.journal().suffix(2)
            #expect(tries.map(\.fate) == [.unprocessed, .answered])
            #expect(tries.map { $0.request.connectionID == busy[0].request.connectionID } == [false, true])
            pair.simulator.removeFault("hold")
            _ = try await held.value()
        }
    }

    @Test func `when APNs refuses a channel, it accepted the token, so more than one stream is used`() async throws {
        try await ClientAndSimulator.with(settings: ClientAndSimulator.oneConnection) { pair in
            #expect(await pair.send(to: "AAAA").refusal?.reason == .badChannelId)
            try pair.hold()
            async let first = pair.send(to: "AAAA")
            async let second = pair.send(to: "AAAA")
            try await pair.simulator.awaitRequests(2) { $0.fate == .held }
            pair.simulator.removeFault("hold")
            #expect(await first.refusal != nil)
            #expect(await second.refusal != nil)
        }
    }

    @Test func `while the server is down calls wait, and they are accepted when it is back`() async throws {
        // Production has the next port. The system gives ports of this range to nobody who asks for any port.
        let port = 2 * Int.random(in: 10_500..<15_500)
        try await ClientAndSimulator.with(options: { $0.port = port }) { pair in
            _ = try await pair.makeChannel()
            await pair.simulator.stop()
            var options = SimulatorOptions(directory: pair.directory)
            options.port = port
            options.quirks.capitals = .accepted
            let back = Simulator(options: options, logger: LoopSample.logger)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<200 {
                    group.addTask { _ = try await pair.client.listChannels(at: Self.address).value() }
                }
                try await back.start()
                try await group.waitForAll()
            }
            await pair.client.close()
            await back.stop()
        }
    }

    @Test func `a server that is not trusted is reported and gets no request`() async throws {
        try await ClientAndSimulator.with { stranger in
            try await ClientAndSimulator.with(settings: {
                $0.trustRoots = .file(stranger.addresses.caFile)
                $0.requestTimeout = .milliseconds(300)
            }) { pair in
                let why = try await until("the call says why") {
                    await pair.send(to: "AAAA").unsent.flatMap { $0.contains("trusted authority") ? $0 : nil }
                }
                #expect(pair.simulator.journal().isEmpty)
                #expect(pair.client.reachability(of: .development) == .init(state: .unreachable, reason: why))
            }
        }
    }

    @Test func `without a connection a call ends when its time is over, when it is cancelled or the client closes`()
        async throws
    {
        try await ClientAndSimulator.with(settings: { $0.requestTimeout = .seconds(600) }) { pair in
            await pair.simulator.stop()
            let hasty = try ClientAndSimulator.client(
                pair.addresses, keys: pair.directory, settings: { $0.requestTimeout = .milliseconds(300) })
            let message = ClientAndSimulator.message(to: "AAAA")
            #expect(await hasty.send(message).unsent?.isEmpty == false)
            await hasty.close()

            let call = Task { await pair.send(to: "AAAA") }
            call.cancel()
            #expect(await call.value.unsent != nil)
            async let answer = pair.send(to: "AAAA")
            await pair.client.close()
            #expect(await answer.unsent?.isEmpty == false)
            #expect(await pair.send(to: "AAAA").unsent != nil)
        }
    }
}

/// Which connection a request gets, and when another one is opened.
struct PoolPlanTests {
    private static func member(
        _ inUse: Int, of limit: Int = 1_000, waiting: Int = 0, isProven: Bool = true
    ) -> HTTP2ConnectionState {
        var state = HTTP2ConnectionState()
        state.isProven = isProven
        (state.streamsInUse, state.streamLimit, state.waitCount) = (inUse, limit, waiting)
        return state
    }

    private let plan = PoolPlan(target: 2, bound: 4)

    @Test func `the connection with the fewest requests is chosen, if all are full the shortest queue`() {
        #expect(plan.choose([Self.member(5), Self.member(3), Self.member(4)]) == 1)
        #expect(plan.choose([Self.member(50), Self.member(1, of: 1)]) == 0)
        #expect(plan.choose([Self.member(1_000), Self.member(900)]) == 1)
        #expect(plan.choose([Self.member(1, of: 1, waiting: 9), Self.member(1, of: 1, waiting: 3)]) == 1)
        #expect(plan.choose([]) == nil)
    }

    @Test func `a connection that just refused is chosen only if there is no other`() {
        #expect(plan.choose([Self.member(0), Self.member(900)], avoiding: 0) == 1)
        #expect(plan.choose([Self.member(900), Self.member(0)], avoiding: 1) == 0)
        #expect(plan.choose([Self.member(0), Self.member(9), Self.member(3)], avoiding: 0) == 2)
        #expect(plan.choose([Self.member(0)], avoiding: 0) == 0)
    }

    @Test func `up to the target a connection opens when all have a request, beyond it when all are full and proven`() {
        #expect(plan.wantsOneMore([]))
        #expect(plan.wantsOneMore([Self.member(1)]))
        #expect(!plan.wantsOneMore([Self.member(0)]))
        let full = Self.member(PoolPlan.fullAt)
        #expect(plan.wantsOneMore([full, full]))
        #expect(!plan.wantsOneMore([full, Self.member(10)]))
        #expect(!plan.wantsOneMore([full, Self.member(1, of: 1, waiting: 99, isProven: false)]))
        #expect(plan.wantsOneMore([full, Self.member(20, of: 20)]))
        #expect(!plan.wantsOneMore([full, full, full, full]))
    }
}

struct EndpointTests {
    @Test func `a base URL is a host with a port, and other text is none`() throws {
        for (url, host, port, authority) in [
            ("https://api.push.apple.com/", "api.push.apple.com", 443, "api.push.apple.com"),
            ("https://api-manage.example:2196", "api-manage.example", 2196, "api-manage.example:2196"),
            ("https://[::1]:8443", "::1", 8443, "[::1]:8443"),
        ] {
            let endpoint = try #require(Endpoint(url: url))
            #expect(endpoint.host == host && endpoint.port == port && endpoint.authority == authority)
        }
        for url in ["", "http://api.push.apple.com", "https://host/path", "https://host//", "https://host?a=b"] {
            #expect(Endpoint(url: url) == nil, "\(url)")
        }
    }
}
