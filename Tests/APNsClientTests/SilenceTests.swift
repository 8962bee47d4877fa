internal import APNsSimulator
internal import APNsWire
internal import Foundation
internal import Grandstand
internal import Testing

@testable internal import APNsClient

/// Calls without an answer. What counts is whether APNs may have processed them.
@Suite(.timeLimit(.minutes(20)))
struct SilenceTests {
    @Test func `a request that reached APNs and got no answer is unanswered, not repeated, and its connection stays`()
        async throws
    {
        try await ClientAndSimulator.with(settings: {
            ClientAndSimulator.oneConnection(&$0)
            // Long enough for a busy machine to connect.
            $0.requestTimeout = .seconds(5)
        }) { pair in
            let channelID = try await pair.makeChannel()
            try pair.simulator.addFaults(#"{"faults": [{"action": "lose", "times": 1}]}"#)
            #expect(await pair.send(to: channelID).isUnanswered)
            _ = try await pair.send(to: channelID).value()
            let entries = pair.simulator.journal()
            #expect(entries.map(\.fate) == [.answered, .dropped, .answered])
            #expect(entries.map(\.status) == [201, 200, 200])
            #expect(pair.connections.count == 1)
        }
    }

    @Test func `when a connection ends, its requests are unanswered`() async throws {
        try await ClientAndSimulator.with { pair in
            let channelID = try await pair.makeChannel()
            try pair.hold(#""operation": "broadcast""#)
            async let answer = pair.send(to: channelID)
            try await pair.simulator.requests(1) { $0.fate == .held }
            await pair.simulator.stop()
            #expect(await answer.isUnanswered)
        }
    }

    @Test func `without a key file or an endpoint nothing is sent, and the error says which`() async throws {
        try await ClientAndSimulator.with(settings: { $0.endpoints.send[.production] = nil }) { pair in
            var address = ClientAndSimulator.address
            address.credentials = KeyFolder.credentials
            let why = try #require(await pair.send(to: "dGVzdA==", at: address).withheld)
            #expect(why.contains("AuthKey_KEY4567890.p8"))
            let use = KeyUse(credentials: address.credentials, environment: address.environment)
            #expect(await pair.client.keyFile(of: use) == .missing)
            #expect(await pair.client.keyFile(of: ClientAndSimulator.use) == .ok)
            address.environment = .production
            #expect(await pair.send(to: "dGVzdA==", at: address).withheld == APNsClient.noEndpoint)
            #expect(pair.simulator.journal().isEmpty)
        }
    }

    @Test func `an expired token is renewed once, and the call is repeated with the same request ID`() async throws {
        try await ClientAndSimulator.with(clock: Self.clock()) { pair, clock in
            let channelID = try await pair.makeChannel()
            clock.advance(by: 1_300)
            try pair.refuse(.expiredProviderToken, match: #""operation": "broadcast""#)
            _ = try await pair.send(to: channelID).value()
            let entries = pair.simulator.journal().filter { $0.request.path.hasPrefix("/4/") }
            #expect(entries.map(\.status) == [403, 200])
            #expect(Set(entries.map { $0.request[header: "authorization"] }).count == 2)
            #expect(Set(entries.map { $0.request[header: "apns-request-id"] }).count == 1)
            // The new token is too young to be replaced, so its refusal is returned to the caller.
            try pair.refuse(.expiredProviderToken, times: 5)
            #expect(await pair.send(to: channelID).refusal?.reason == .expiredProviderToken)
            #expect(pair.simulator.journal().count == 4)
        }
    }

    @Test func `if APNs refuses a new token as too soon, the previous one is used again`() async throws {
        try await ClientAndSimulator.with(clock: Self.clock()) { pair, clock in
            let channelID = try await pair.makeChannel()
            clock.advance(by: 3_000)
            // This call starts the renewal and is still sent with the old token.
            _ = try await pair.send(to: channelID).value()
            await pair.client.tokens.settled(ClientAndSimulator.address.credentials)
            try pair.refuse(.tooManyProviderTokenUpdates)
            _ = try await pair.send(to: channelID).value()
            let tokens = pair.simulator.journal().map { $0.request[header: "authorization"] }
            #expect(tokens.count == 4)
            #expect(tokens[0] == tokens[1])
            #expect(tokens[2] != tokens[1])
            #expect(tokens[3] == tokens[1])
        }
    }

    /// The clock stands at the last multiple of ten minutes. A token's time of issue is rounded down to such a
    /// multiple, so a new token is issued at exactly this time. The clock is close to the machine's clock, by which
    /// certificates are checked.
    private static func clock() -> HeldClock {
        HeldClock((Date().timeIntervalSince1970 / 600).rounded(.down) * 600)
    }
}

extension ClientAndSimulator {
    /// Runs `body` with a simulator and a client that use this clock.
    fileprivate static func with(clock: HeldClock, _ body: (ClientAndSimulator, HeldClock) async throws -> Void)
        async throws
    {
        try await with(options: { $0.now = { clock.now } }, now: { clock.now }) { try await body($0, clock) }
    }
}
