internal import APNsSimulator
internal import APNsWire
internal import GrandstandTestKit
internal import Testing

/// The simulator's TLS, as other clients see it.
@Suite(
    "With curl and openssl", .timeLimit(.minutes(20)),
    .enabled(if: Shell.hasTools, "needs curl with HTTP/2, openssl and xxd"))
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
