internal import APNsSimulator
internal import APNsWire
internal import Foundation
internal import GrandstandTestKit
internal import Testing

@Suite(
    "With curl", .timeLimit(.minutes(1)),
    .enabled(if: Curl.speaksHTTP2, "needs a curl with HTTP/2 on the PATH"))
struct CurlTests {
    @Test(arguments: ["1.2", "1.3"])
    func `curl creates and lists a channel over HTTP/2`(tls: String) async throws {
        let folder = try TemporaryFolder()
        try await RunningSimulator.with(in: folder.path) { running in
            let base = running.addresses.url(.development)
            let common = [
                "--silent", "--include", "--http2", "--tlsv\(tls)", "--tls-max", tls, "--max-time", "30", "--cacert",
                running.addresses.caFile, "--header", "authorization: bearer \(try running.token())",
            ]
            let body = #"{"message-storage-policy":1,"push-type":"LiveActivity"}"#
            let created = try await Curl.run(common + ["--data", body, "\(base)/1/apps/com.example.scores/channels"])
            #expect(created.exitCode == 0)
            #expect(created.text.hasPrefix("HTTP/2 201"))
            let id = try #require(running.simulator.channels(of: "com.example.scores", in: .development).first?.id)
            #expect(created.text.contains("apns-channel-id: \(id)\r\n"))
            let listed = try await Curl.run(common + ["\(base)/1/apps/com.example.scores/all-channels"])
            #expect(listed.text.hasSuffix(#"{"channels":["\#(id)"]}"#))
        }
    }

    @Test func `a client with HTTP/1.1 only is disconnected without a status`() async throws {
        let folder = try TemporaryFolder()
        try await RunningSimulator.with(in: folder.path) { running in
            let output = try await Curl.run([
                "--silent", "--include", "--http1.1", "--max-time", "30", "--cacert", running.addresses.caFile,
                "\(running.addresses.url(.development))/",
            ])
            #expect(output.exitCode != 0)
            #expect(output.text == "")
            #expect(running.simulator.journal().isEmpty)
        }
    }

    @Test(arguments: ["-tls1_2", "-tls1_3"])
    func `TLS asks for a client certificate, but does not need one`(version: String) async throws {
        let folder = try TemporaryFolder()
        try await RunningSimulator.with(in: folder.path) { running in
            let addresses = running.addresses
            let output = try await Shell.run(
                "openssl s_client \(version) -alpn h2 -CAfile '\(addresses.caFile)' "
                    + "-connect 127.0.0.1:\(addresses.developmentPort) </dev/null 2>&1")
            // s_client prints this only if the server asked for a certificate.
            #expect(output.text.contains("Requested Signature Algorithms"), "\(output.text)")
            #expect(output.text.contains("ALPN protocol: h2"))
        }
    }

    @Test(arguments: [
        "localhost", "simulator", "api.push.apple.com", "api.sandbox.push.apple.com",
        "api-manage-broadcast.push.apple.com", "api-manage-broadcast.sandbox.push.apple.com",
        "api-broadcast.push.apple.com", "api-broadcast.sandbox.push.apple.com",
    ])
    func `the certificate names this machine and Apple's hosts`(host: String) async throws {
        let folder = try TemporaryFolder()
        try await RunningSimulator.with(in: folder.path) { running in
            let port = running.addresses.productionPort
            let output = try await Curl.run([
                "--silent", "--include", "--http2", "--max-time", "30", "--cacert", running.addresses.caFile,
                "--resolve", "\(host):\(port):127.0.0.1", "https://\(host):\(port)/",
            ])
            #expect(output.exitCode == 0)
            #expect(output.text.hasSuffix(#"{"reason":"BadPath"}"#))
        }
    }
}
