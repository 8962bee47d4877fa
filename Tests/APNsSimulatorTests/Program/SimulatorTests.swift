internal import APNsSimulator
internal import APNsWire
internal import Foundation
internal import GrandstandTestKit
internal import HTTP2
internal import Testing

/// The simulator over the wire.
@Suite(.timeLimit(.minutes(20)))
struct SimulatorTests {
    @Test func `a wait ends when its task is cancelled, and when the simulator stops`() async throws {
        try await RunningSimulator.withClient { running, _ in
            let cancelled = Task { try await running.simulator.awaitRequests(1) }
            cancelled.cancel()
            await #expect(throws: CancellationError.self) { try await cancelled.value }
            let waiting = Task { try await running.simulator.awaitRequests(1) }
            let looking = Task { try await running.simulator.awaitScreen(of: "anna") { $0.count == 7 } }
            await running.simulator.stop()
            await #expect(throws: (any Error).self) { try await waiting.value }
            await #expect(throws: CancellationError.self) { try await looking.value }
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
        let running = try RunningSimulator(simulator, addresses)
        let client = try await running.client(.production)
        #expect(try await client.list().status == 200)
        task.cancel()
        try await task.value
        _ = await client.connection.untilClosed()
        await #expect(throws: HTTP2ConnectError.self) { try await running.connect() }
    }
}

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

/// The simulator's TLS, as other clients see it.
@Suite(
    "With curl and openssl", .timeLimit(.minutes(20)),
    .enabled("needs curl with HTTP/2, openssl and xxd") { try await Shell.hasTools() })
struct CurlTests {
    @Test func `a client with HTTP/1.1 only is disconnected without a status`() async throws {
        try await RunningSimulator.withClient { running, _ in
            let addresses = running.addresses
            let output = try await Shell.run(
                "curl -si --http1.1 --max-time 60 --cacert '\(addresses.caFile)' \(addresses.url(.development))/")
            #expect(output.exitCode != 0)
            #expect(output.text == "")
            #expect(running.simulator.journal().isEmpty)
        }
    }

    @Test(arguments: ["-tls1_2", "-tls1_3"])
    func `TLS asks for a client certificate, but does not need one`(version: String) async throws {
        try await RunningSimulator.withClient { running, _ in
            let addresses = running.addresses
            let output = try await Shell.run(
                "openssl s_client \(version) -alpn h2 -CAfile '\(addresses.caFile)' "
                    + "-connect 127.0.0.1:\(addresses.developmentPort) </dev/null 2>&1")
            // s_client prints this only if the server asked for a certificate.
            #expect(output.text.contains("Requested Signature Algorithms"), "\(output.text)")
            #expect(output.text.contains("ALPN protocol: h2"))
        }
    }
}

/// Runs the recipes of docs/simulator.md as they are on the page, with other ports and another folder.
@Suite(.timeLimit(.minutes(20)))
struct RecipeTests {
    @Test(.enabled("needs curl with HTTP/2, openssl and xxd") { try await Shell.hasTools() })
    func `the curl recipe shows the goal on the lock screen`() async throws {
        try await ControlStage.with { stage in
            let output = try await Shell.run(Self.script("sh", stage))
            #expect(output.exitCode == 0, "\(output.text)")
            #expect(try await stage.shown("anna") == [#"{"home":1}"#], "\(output.text)")
            #expect(output.text.contains(#""operation":"broadcast""#))
            #expect(output.text.contains(#""lockScreens":[{"device":"anna""#))
        }
    }

    @Test(
        .enabled("needs Python's httpx[http2]") {
            try await Shell.run("python3 -c 'import httpx, h2'").exitCode == 0
        })
    func `the Python recipe shows the goal on the lock screen`() async throws {
        try await ControlStage.with { stage in
            let token = try stage.running.token()
            let script = "TOKEN=\(token) python3 - <<'END'\n\(try Self.script("python", stage))\nEND\n"
            let output = try await Shell.run(script)
            #expect(output.exitCode == 0, "\(output.text)")
            #expect(try await stage.shown("ben") == [#"{"home":1}"#])
        }
    }

    /// All code blocks in one language below "Recipes", with the addresses and files of a running simulator.
    private static func script(_ language: String, _ stage: ControlStage) throws -> String {
        let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../..")
        let page = try String(contentsOf: root.appending(path: "docs/simulator.md"), encoding: .utf8)
        let recipes = try #require(page.firstRange(of: "\n## Recipes\n").map { page[$0.upperBound...] })
        let blocks = recipes.split(separator: "```\(language)\n").dropFirst().map { block in
            block.prefix(upTo: block.firstRange(of: "\n```")?.lowerBound ?? block.endIndex)
        }
        try #require(!blocks.isEmpty)
        let addresses = stage.running.addresses
        let folder = URL(filePath: addresses.caFile).deletingLastPathComponent().path()
        return blocks.joined(separator: "\n")
            .replacing("https://127.0.0.1:8443", with: addresses.url(.development))
            .replacing("http://127.0.0.1:8442", with: stage.base)
            .replacing("apns/ca.pem", with: "\(folder)ca.pem")
            .replacing("apns/AuthKey", with: "\(folder)AuthKey")
    }
}
