internal import APNsSimulator
internal import APNsWire
internal import Foundation
internal import HTTP2
internal import Testing

/// The simulator over the wire.
@Suite(.timeLimit(.minutes(20)))
struct SimulatorTests {
    @Test(arguments: APNsEnvironment.allCases)
    func `a channel can be created and sent to, and the journal has every request with its result`(
        environment: APNsEnvironment
    ) async throws {
        let folder = try TemporaryFolder()
        try await RunningSimulator.with(in: folder.path) { running in
            // Not one of Apple's names, so the port serves management and broadcasts.
            let client = try await running.client(environment, naming: "simulator")
            #expect(client.connection.streamLimit == 1)
            let created = try await client.create(policy: 1)
            #expect(created.status == 201)
            #expect(client.connection.streamLimit == 1_000)
            #expect(created.body.isEmpty)
            let id = try #require(created[header: "apns-channel-id"])
            #expect(running.simulator.channels(of: Bench.bundleID, in: environment).map(\.id) == [id])

            let expiration = Int(Date().timeIntervalSince1970) + 600
            let sent = try await client.broadcast(on: id, expiration: expiration)
            #expect(sent.status == 200)
            let stored = running.simulator.storedMessage(on: id, of: Bench.bundleID, in: environment)
            #expect(stored?.body == Array(Bench.update.utf8))
            #expect(stored?.uniqueID == sent[header: "apns-unique-id"])
            #expect(try await client.broadcast(on: "AAAA").text == #"{"reason":"BadChannelId"}"#)

            let entries = running.simulator.journal()
            #expect(entries.map(\.number) == [1, 2, 3])
            #expect(entries.map(\.status) == [201, 200, 400])
            #expect(entries.map(\.reason) == [nil, nil, .badChannelId])
            #expect(Set(entries.map(\.request.environment)) == [environment])
            #expect(Set(entries.map(\.request.connection)).count == 1)
            #expect(entries[1].request.path == "/4/broadcasts/apps/com.example.scores")
            #expect(entries[1].request[header: "apns-priority"] == "10")
            #expect(entries[1].request.body == Array(Bench.update.utf8))
        }
    }

    @Test func `a wait ends when its task is cancelled, and when the simulator stops`() async throws {
        try await RunningSimulator.withClient { running, _ in
            let cancelled = Task { try await running.simulator.requests(1) }
            cancelled.cancel()
            await #expect(throws: CancellationError.self) { try await cancelled.value }
            let waiting = Task { try await running.simulator.requests(1) }
            let looking = Task { try await running.simulator.lockScreen(of: "anna") { $0.count == 7 } }
            await running.simulator.stop()
            await #expect(throws: (any Error).self) { try await waiting.value }
            await #expect(throws: CancellationError.self) { try await looking.value }
        }
    }

    @Test func `a port in use gives one clear line, and nothing stays started`() async throws {
        let folder = try TemporaryFolder()
        let directory = folder.path
        try await RunningSimulator.with(in: directory) { running in
            var options = SimulatorOptions(directory: directory)
            options.port = running.addresses.developmentPort
            let second = Simulator(options: options, logger: RunningSimulator.logger)
            await #expect {
                try await second.start()
            } throws: { error in
                let text = "\(error)"
                return text.contains("\(running.addresses.developmentPort)") && !text.contains("\n")
            }
            #expect(second.addresses == nil)
        }
    }

    @Test func `run() announces its addresses, serves, and ends when it is cancelled`() async throws {
        let folder = try TemporaryFolder()
        let (announced, continuation) = AsyncStream.makeStream(of: SimulatorAddresses.self)
        let simulator = Simulator(
            options: SimulatorOptions(directory: folder.path), logger: RunningSimulator.logger,
            announce: { continuation.yield($0) })
        let task = Task { try await simulator.run() }
        let addresses = try #require(await announced.first { _ in true })
        let provider = try Provider(
            keyID: SimulatorIdentity.keyID, teamID: SimulatorIdentity.teamID, file: addresses.keyFile)
        let running = RunningSimulator(simulator: simulator, addresses: addresses, provider: provider)
        let client = try await running.client(.production)
        #expect(try await client.list().status == 200)
        task.cancel()
        try await task.value
        _ = await client.connection.closed()
        await #expect(throws: HTTP2ConnectError.self) { try await running.connect() }
    }
}
