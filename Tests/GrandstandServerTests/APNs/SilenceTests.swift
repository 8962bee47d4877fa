internal import APNsSimulator
internal import APNsWire
internal import Foundation
internal import Grandstand
internal import Testing

@testable internal import GrandstandServer

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

    @Test func `without a key file or an endpoint nothing is sent, and the error says which`() async throws {
        try await ClientAndSimulator.with(settings: { $0.endpoints.send[.production] = nil }) { pair in
            var address = ClientAndSimulator.address
            address.credentials = KeyFolder.credentials
            let why = try #require(await pair.send(to: "dGVzdA==", at: address).withheld)
            #expect(why.contains("AuthKey_KEY4567890.p8"))
            let use = KeyUse(credentials: address.credentials, environment: address.environment)
            #expect(pair.client.keyFile(of: use) == .missing)
            #expect(pair.client.keyFile(of: ClientAndSimulator.use) == .ok)
            address.environment = .production
            #expect(await pair.send(to: "dGVzdA==", at: address).withheld == APNsClient.noEndpoint)
            #expect(pair.simulator.journal().isEmpty)
        }
    }
}
