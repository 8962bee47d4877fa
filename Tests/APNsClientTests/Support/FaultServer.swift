internal import APNsClient
internal import APNsSimulator
internal import APNsWire
internal import Foundation
internal import Grandstand
internal import HTTP2
internal import Synchronization

/// An HTTP/2 server in place of APNs, and a client of it. The test decides about every answer.
final class FaultServer: HTTP2ServerHandler {
    typealias Answering = @Sendable (HTTP2ServerRequest, HTTP2ServerStream) -> Void

    private let answering: Answering
    private let live = Mutex<[Int: HTTP2ServerConnection]>([:])
    private let all = Mutex<[Int]>([])
    private let (openings, opened) = AsyncStream<Int>.makeStream()

    private init(_ answering: @escaping Answering) { self.answering = answering }

    func opened(_ connection: HTTP2ServerConnection) {
        live.withLock { $0[connection.id] = connection }
        all.withLock { $0.append(connection.id) }
        opened.yield(connection.id)
    }

    func received(_ request: HTTP2ServerRequest, on stream: HTTP2ServerStream) { answering(request, stream) }

    func closed(_ connection: HTTP2ServerConnection) { live.withLock { $0[connection.id] = nil } }

    /// The open connections.
    var connections: [HTTP2ServerConnection] { live.withLock { Array($0.values) } }

    /// The number of connections opened so far.
    var connectionsEver: Int { all.withLock { $0.count } }

    /// Waits until `count` connections have been opened. A connection does not count if an earlier call of this
    /// function has waited for it.
    func openings(_ count: Int) async {
        var seen = 0
        for await _ in openings {
            seen += 1
            if seen == count { return }
        }
    }

    /// The objects that a test uses.
    struct Stage: Sendable {
        let server: FaultServer
        let client: APNsClient
        let port: Int
        let folder: String
    }

    /// Runs `body` with a server that answers as the test says, and with the server's only client.
    ///
    /// - Parameter streams: SETTINGS_MAX_CONCURRENT_STREAMS of a new connection.
    static func with(
        streams: Int = 1_000, settings change: (inout APNsClient.Settings) -> Void = { _ in },
        answering: @escaping Answering, _ body: (Stage) async throws -> Void
    ) async throws {
        let folder = try KeyFolder()
        try await makeFiles(in: folder.path)
        let handler = FaultServer(answering)
        let server = try await start(handler, folder.path, port: 0, streams: streams)
        let client = try client(port: server.port, folder: folder.path, settings: change)
        let stage = Stage(server: handler, client: client, port: server.port, folder: folder.path)
        do {
            try await body(stage)
        } catch {
            await client.close()
            await server.stop()
            throw error
        }
        await client.close()
        await server.stop()
    }

    /// Starts another server on `port`, as if the first one were back.
    static func start(
        _ handler: FaultServer, _ folder: String, port: Int, streams: Int = 1_000
    ) async throws -> HTTP2Server {
        var configuration = HTTP2ServerConfiguration(
            host: "127.0.0.1", port: port, certificateChain: .file(folder + "/server.pem"),
            privateKey: .file(folder + "/server.key"))
        configuration.initialMaximumConcurrentStreams = streams
        configuration.drainTimeout = .milliseconds(50)
        return try await HTTP2Server.start(configuration, handler: handler, logger: ClientAndSimulator.logger)
    }

    /// A handler for `start`.
    static func handler(_ answering: @escaping Answering) -> FaultServer { FaultServer(answering) }

    /// Writes certificates and a provider key into the folder. A simulator creates them.
    static func makeFiles(in folder: String) async throws {
        let simulator = Simulator(options: SimulatorOptions(directory: folder), logger: ClientAndSimulator.logger)
        try await simulator.start()
        await simulator.stop()
    }

    static func client(
        port: Int, folder: String, settings change: (inout APNsClient.Settings) -> Void = { _ in }
    ) throws -> APNsClient {
        guard let endpoint = Endpoint(url: "https://127.0.0.1:\(port)") else { throw UnexpectedAnswer(answer: "url") }
        var settings = APNsClient.Settings(
            endpoints: Endpoints(send: [.development: endpoint], manage: [.development: endpoint]))
        settings.trustRoots = .file(folder + "/ca.pem")
        settings.requestTimeout = .seconds(20)
        change(&settings)
        return APNsClient(
            settings: settings, keys: KeyRing(directory: folder), now: { Date() }, logger: ClientAndSimulator.logger)
    }

    /// Sends a broadcast to the channel `channel-<number>`, so that the server can count the broadcasts by channel.
    static func send(_ number: Int, by client: APNsClient) async -> APNsAnswer<Void> {
        await client.send(ClientAndSimulator.message(to: "channel-\(number)"), to: ClientAndSimulator.address)
    }
}

extension HTTP2ServerRequest {
    /// The channel of a broadcast. It distinguishes the requests of a test.
    var channel: String { self[header: APNsHeader.channelID] ?? "" }
}

extension HTTP2ServerStream {
    func accept() { respond(status: 200, headers: [HTTP2Header("apns-request-id", "x")], body: []) }

    func refuse(_ status: Int, _ reason: String) {
        respond(status: status, headers: [], body: Array(#"{"reason":"\#(reason)"}"#.utf8))
    }
}

/// Counts by name, from any thread.
final class Tally: Sendable {
    private let counts = Mutex<[String: Int]>([:])

    @discardableResult
    func add(_ name: String, _ amount: Int = 1) -> Int {
        counts.withLock { counts in
            counts[name, default: 0] += amount
            return counts[name, default: 0]
        }
    }

    subscript(_ name: String) -> Int { counts.withLock { $0[name, default: 0] } }

    var all: [String: Int] { counts.withLock { $0 } }

    /// Returns the counts and resets them.
    func take() -> [String: Int] {
        counts.withLock { counts in
            defer { counts = [:] }
            return counts
        }
    }
}
