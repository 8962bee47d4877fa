internal import APNsSimulator
internal import APNsWire
internal import HTTP2
internal import Testing

/// Clients that ask for a host by name. They check that the certificate has this name.
@Suite(.timeLimit(.minutes(20)))
struct HostNameTests {
    @Test(arguments: [
        ("api.sandbox.push.apple.com", APNsEnvironment.development, false),
        ("api-broadcast.sandbox.push.apple.com", .development, false), ("api.push.apple.com", .production, false),
        ("api-broadcast.push.apple.com", .production, false),
        ("api-manage-broadcast.sandbox.push.apple.com", .development, true),
        ("API-manage-broadcast.push.apple.com", .production, true),
    ])
    func `Apple's host name selects its environment and service on every port`(
        host: String, environment: APNsEnvironment, manages: Bool
    ) async throws {
        try await RunningSimulator.withClient { running, _ in
            for port in APNsEnvironment.allCases {
                let client = try await running.client(port, naming: host)
                #expect(try await client.list().status == (manages ? 200 : 404))
                let sent = try await client.broadcast(on: "AAAA")
                #expect(sent.text == #"{"reason":"\#(manages ? "BadPath" : "BadChannelId")"}"#)
            }
            #expect(Set(running.simulator.journal().map(\.request.environment)) == [environment])
        }
    }
}
