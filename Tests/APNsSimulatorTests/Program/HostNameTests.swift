internal import APNsSimulator
internal import APNsWire
internal import HTTP2
internal import Testing

/// Clients that ask for Apple's hosts by name.
@Suite(.timeLimit(.minutes(1)))
struct HostNameTests {
    @Test(arguments: [
        ("api.sandbox.push.apple.com", APNsEnvironment.development, false),
        ("api.push.apple.com", .production, false), ("api-broadcast.push.apple.com", .production, false),
        ("api-manage-broadcast.sandbox.push.apple.com", .development, true),
        ("API-manage-broadcast.push.apple.com", .production, true),
    ])
    func `a host name selects its environment and service on every port`(
        host: String, environment: APNsEnvironment, manages: Bool
    ) async throws {
        let folder = try TemporaryFolder()
        try await RunningSimulator.with(in: folder.path) { running in
            for port in APNsEnvironment.allCases {
                let client = Client(
                    connection: try await running.connect(port, naming: host), token: try running.token())
                let list = try await client.list()
                #expect(list.status == (manages ? 200 : 404))
                let sent = try await client.broadcast(on: "AAAA")
                #expect(sent.text == #"{"reason":"\#(manages ? "BadPath" : "BadChannelId")"}"#)
            }
            #expect(Set(running.simulator.journal().map(\.request.environment)) == [environment])
        }
    }

    @Test func `with another name or none, a port serves everything`() async throws {
        let folder = try TemporaryFolder()
        try await RunningSimulator.with(in: folder.path) { running in
            for name in [nil, "localhost"] {
                let client = Client(
                    connection: try await running.connect(.production, naming: name), token: try running.token())
                #expect(try await client.list().status == 200)
                #expect(try await client.broadcast(on: "AAAA").text == #"{"reason":"BadChannelId"}"#)
            }
            #expect(Set(running.simulator.journal().map(\.request.environment)) == [.production])
        }
    }

    @Test func `a test in the same process can wait until a lock screen shows something`() async throws {
        let folder = try TemporaryFolder()
        try await RunningSimulator.with(in: folder.path) { running in
            let client = Client(connection: try await running.connect(), token: try running.token())
            let id = try #require(try await client.create(policy: 0)[header: "apns-channel-id"])
            try running.simulator.addDevice("anna", in: .development, bundleIDs: [Bench.bundleID])
            try running.simulator.startActivity(on: "anna", of: Bench.bundleID, channelID: id)
            async let shown = running.simulator.lockScreen(of: "anna") { screen in
                screen.first.map { String(decoding: $0.contentState, as: UTF8.self) } == #"{"home":1,"away":0}"#
            }
            #expect(try await client.broadcast(on: id).status == 200)
            #expect(try await shown.map(\.state) == [.active])
            running.simulator.setOnline(false, device: "anna")
            running.simulator.advance(by: .seconds(8 * 3_600))
            #expect(running.simulator.lockScreen(of: "anna").map(\.state) == [.ended])
            let waiting = Task { try await running.simulator.lockScreen(of: "anna") { $0.count == 7 } }
            await running.simulator.stop()
            await #expect(throws: CancellationError.self) { try await waiting.value }
        }
    }
}
