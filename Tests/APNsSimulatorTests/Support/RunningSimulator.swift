internal import APNsSimulator
internal import APNsWire
internal import Foundation
internal import GrandstandTestKit
internal import HTTP2
internal import JSON
internal import Logging
internal import Testing

/// A simulator on free ports, and a provider with a known key.
struct RunningSimulator: Sendable {
    static let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    let simulator: Simulator
    let addresses: SimulatorAddresses
    let provider: Provider

    /// Runs `body` with a simulator in `directory`, and stops it afterwards.
    @discardableResult
    static func with<Result: Sendable>(
        in directory: String, options change: (inout SimulatorOptions) -> Void = { _ in },
        _ body: (RunningSimulator) async throws -> Result
    ) async throws -> Result {
        var options = SimulatorOptions(directory: directory)
        change(&options)
        let simulator = Simulator(options: options, logger: logger)
        let addresses = try await simulator.start()
        return try await ending(with: { await simulator.stop() }) {
            try await body(RunningSimulator(simulator, addresses))
        }
    }

    init(_ simulator: Simulator, _ addresses: SimulatorAddresses) throws {
        (self.simulator, self.addresses) = (simulator, addresses)
        provider = try Provider(
            keyID: SimulatorIdentity.keyID, teamID: SimulatorIdentity.teamID, file: addresses.p8File)
    }

    /// Runs `body` with a simulator and a client of its development port.
    static func withClient(_ body: (RunningSimulator, Client) async throws -> Void) async throws {
        let folder = try TemporaryFolder()
        try await with(in: folder.path) { running in
            try await body(running, try await running.client())
        }
    }

    func client(_ environment: APNsEnvironment = .development, naming name: String? = nil) async throws -> Client {
        Client(connection: try await connect(environment, naming: name), token: try token())
    }

    func connect(
        _ environment: APNsEnvironment = .development, naming name: String? = nil
    ) async throws -> HTTP2ClientConnection {
        var configuration = HTTP2ClientConfiguration(host: addresses.host, port: addresses.port(environment))
        configuration.trustRoots = .file(addresses.caFile)
        configuration.serverName = name
        configuration.connectTimeout = .seconds(120)
        return try await HTTP2ClientConnection.connect(configuration, logger: Self.logger)
    }

    /// A valid token, issued now.
    func token() throws -> String { try provider.token(at: Date().timeIntervalSince1970) }
}

/// A connection, and the token of its requests.
struct Client: Sendable {
    let connection: HTTP2ClientConnection
    var token: String?

    func send(
        _ method: String, _ path: String, _ headers: [String: String] = [:], _ body: String = ""
    ) async throws -> HTTP2Response {
        var fields = headers.map { HTTP2Header($0.key, $0.value) }
        if let token { fields.append(HTTP2Header("authorization", "bearer \(token)", indexing: .never)) }
        return try await connection.send(
            HTTP2Request(
                method: method, path: path, authority: "localhost", headers: fields, body: Array(body.utf8)),
            timeout: .seconds(120))
    }

    func create(policy: Int, of bundleID: String = Bench.bundleID) async throws -> HTTP2Response {
        try await send(
            "POST", APNsPath.channels(of: bundleID), [:],
            #"{"message-storage-policy":\#(policy),"push-type":"LiveActivity"}"#)
    }

    func list(_ bundleID: String = Bench.bundleID) async throws -> HTTP2Response {
        try await send("GET", APNsPath.allChannels(of: bundleID))
    }

    func broadcast(on channel: String, expiration: Int = 0, _ body: String = Bench.update) async throws -> HTTP2Response
    {
        let headers = [
            "apns-channel-id": channel, "apns-push-type": "liveactivity", "apns-expiration": "\(expiration)",
            "apns-priority": "10",
        ]
        return try await send("POST", APNsPath.broadcasts(of: Bench.bundleID), headers, body)
    }
}

extension HTTP2Response {
    var text: String { String(decoding: body, as: UTF8.self) }
}

#if canImport(FoundationNetworking)
    internal import FoundationNetworking
#endif

/// A simulator with a control API, and a client of that API.
struct ControlStage: Sendable {
    let running: RunningSimulator
    let base: String

    static func with(_ body: (ControlStage) async throws -> Void) async throws {
        let folder = try TemporaryFolder()
        try await RunningSimulator.with(in: folder.path, options: { $0.controlPort = 0 }) { running in
            try await body(ControlStage(running: running, base: try #require(running.addresses.controlURL)))
        }
    }

    /// Expects this status, and returns the body; null if there is none.
    @discardableResult
    func call(
        _ method: String, _ path: String, _ body: String = "", gives status: Int = 200,
        at location: SourceLocation = #_sourceLocation
    ) async throws -> JSONValue {
        var request = URLRequest(url: try #require(URL(string: base + path)))
        request.httpMethod = method
        if !body.isEmpty { request.httpBody = Data(body.utf8) }
        request.timeoutInterval = 120
        let (data, response) = try await URLSession.shared.data(for: request)
        let text = String(decoding: data, as: UTF8.self)
        let given = (response as? HTTPURLResponse)?.statusCode
        #expect(given == status, "\(method) \(path) \(body.prefix(100)): \(text)", sourceLocation: location)
        return try JSONValue(decoding: data.isEmpty ? Data("null".utf8) : data)
    }

    /// The elements of a list.
    func list(_ path: String, _ name: String) async throws -> [JSONValue] {
        try #require(try await call("GET", path)[name]?.elements)
    }

    /// The numbers of the journal's entries.
    func entries(_ query: String) async throws -> [Int] {
        try await list("/journal\(query)", "entries").compactMap { $0["number"]?.integer }
    }

    /// The content states on the device's lock screen.
    func shown(_ device: String) async throws -> [String] {
        try await list("/devices/\(device)", "lockScreen").compactMap { $0["contentState"] }
            .map { String(decoding: $0.compact, as: UTF8.self) }
    }

    func client() async throws -> Client { try await running.client() }
}

/// Runs shell scripts: the commands that the documentation shows.
enum Shell {
    static func run(_ script: String) async throws -> Program.Output {
        try await Program.run(URL(filePath: "/bin/sh"), ["-c", script])
    }

    /// Whether this machine has what the recipes need.
    static func hasTools() async throws -> Bool {
        try await run("curl --version | grep -q HTTP2 && command -v openssl && command -v xxd").exitCode == 0
    }
}
