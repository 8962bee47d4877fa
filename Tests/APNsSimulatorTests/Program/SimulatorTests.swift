internal import APNsSimulator
internal import APNsWire
internal import Foundation
internal import HTTP2
internal import Testing

/// The simulator over the wire.
@Suite(.timeLimit(.minutes(1)))
struct SimulatorTests {
    @Test(arguments: APNsEnvironment.allCases)
    func `a channel can be created, read, listed, sent to and deleted`(environment: APNsEnvironment) async throws {
        let folder = try TemporaryFolder()
        try await RunningSimulator.with(in: folder.path) { running in
            let client = Client(connection: try await running.connect(environment), token: try running.token())

            let created = try await client.create(policy: 1)
            #expect(created.status == 201)
            #expect(created.body.isEmpty)
            let id = try #require(created[header: "apns-channel-id"])
            #expect(running.simulator.channels(of: Bench.bundleID, in: environment).map(\.id) == [id])

            let expiration = Int(Date().timeIntervalSince1970) + 600
            let sent = try await client.broadcast(on: id, expiration: expiration)
            #expect(sent.status == 200)
            #expect(sent.body.isEmpty)
            let stored = running.simulator.storedMessage(on: id, of: Bench.bundleID, in: environment)
            #expect(stored?.body == Array(Bench.update.utf8))
            #expect(stored?.uniqueID == sent[header: "apns-unique-id"])
            #expect(stored?.uniqueID.count == 36)

            let path = APNsPath.channels(of: Bench.bundleID)
            let read = try await client.send("GET", path, ["apns-channel-id": id])
            #expect(read.text == #"{"message-storage-policy":1,"push-type":"LiveActivity"}"#)
            #expect(try await client.list().text == #"{"channels":["\#(id)"]}"#)
            #expect(try await client.send("DELETE", path, ["apns-channel-id": id]).status == 204)
            #expect(try await client.list().text == #"{"channels":[]}"#)
            #expect(try await client.broadcast(on: id).text == #"{"reason":"ChannelNotRegistered"}"#)
        }
    }

    @Test func `a connection has one stream until the first valid token, then a thousand`() async throws {
        let folder = try TemporaryFolder()
        try await RunningSimulator.with(in: folder.path) { running in
            let connection = try await running.connect()
            #expect(connection.streamLimit == 1)
            let refused = try await Client(connection: connection, token: "wrong").list()
            #expect(refused.status == 403)
            #expect(refused.text == #"{"reason":"InvalidProviderToken"}"#)
            #expect(connection.streamLimit == 1)
            let missing = try await Client(connection: connection, token: nil).list()
            #expect(missing.text == #"{"reason":"MissingProviderToken"}"#)
            #expect(connection.streamLimit == 1)
            #expect(try await Client(connection: connection, token: try running.token()).list().status == 200)
            #expect(connection.streamLimit == 1_000)
        }
    }

    @Test(arguments: [5_121, 200_000])
    func `a body one byte or far beyond the limit is refused with APNs' reason`(bytes: Int) async throws {
        let folder = try TemporaryFolder()
        try await RunningSimulator.with(in: folder.path) { running in
            let client = Client(connection: try await running.connect(), token: try running.token())
            let id = try #require(try await client.create(policy: 0)[header: "apns-channel-id"])
            let answer = try await client.broadcast(on: id, String(repeating: " ", count: bytes))
            #expect(answer.status == 413)
            #expect(answer.text == #"{"reason":"PayloadTooLarge"}"#)
            #expect(try await client.broadcast(on: id).status == 200)
        }
    }

    @Test func `a restart in the same folder keeps the authority and key, but not the channels`() async throws {
        let folder = try TemporaryFolder()
        let (authority, key) = try await RunningSimulator.with(in: folder.path) { running in
            let client = Client(connection: try await running.connect(), token: try running.token())
            #expect(try await client.create(policy: 0).status == 201)
            return (
                try String(contentsOfFile: running.addresses.caFile, encoding: .utf8),
                try String(contentsOfFile: running.addresses.keyFile, encoding: .utf8)
            )
        }
        try await RunningSimulator.with(in: folder.path) { running in
            #expect(try String(contentsOfFile: running.addresses.caFile, encoding: .utf8) == authority)
            #expect(try String(contentsOfFile: running.addresses.keyFile, encoding: .utf8) == key)
            let client = Client(connection: try await running.connect(), token: try running.token())
            #expect(try await client.list().text == #"{"channels":[]}"#)
        }
    }

    @Test func `a certificate is not trusted with another authority`() async throws {
        let folder = try TemporaryFolder()
        let other = try TemporaryFolder()
        try await RunningSimulator.with(in: other.path) { _ in }
        let foreign = other.file("ca.pem")
        try await RunningSimulator.with(in: folder.path) { running in
            await #expect {
                _ = try await running.connect(trusting: foreign)
            } throws: { error in
                (error as? HTTP2ConnectError)?.kind == .tls
            }
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
        #expect(addresses.description.hasPrefix("listening development=https://127.0.0.1:"))
        let provider = try Provider(
            keyID: SimulatorIdentity.keyID, teamID: SimulatorIdentity.teamID, file: addresses.keyFile)
        let running = RunningSimulator(simulator: simulator, addresses: addresses, provider: provider)
        let client = Client(connection: try await running.connect(.production), token: try running.token())
        #expect(try await client.list().status == 200)
        task.cancel()
        try await task.value
        _ = await client.connection.closed()
        await #expect(throws: HTTP2ConnectError.self) { try await running.connect() }
    }
}
