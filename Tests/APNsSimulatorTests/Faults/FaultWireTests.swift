internal import APNsSimulator
internal import APNsWire
internal import Foundation
internal import HTTP2
internal import Testing

/// Faults over the wire.
@Suite(.timeLimit(.minutes(1)))
struct FaultWireTests {
    @Test func `a fault refuses the third request only`() async throws {
        try await meet(
            #"{"match": {"nth": 3}, "action": "refuse", "reason": "Service Unavailable", "retryAfter": 7}"#
        ) { running, client in
            #expect(try await client.list().status == 200)
            #expect(try await client.list().status == 200)
            let refused = try await client.list()
            #expect(refused.status == 503)
            #expect(refused.text == #"{"reason":"Service Unavailable"}"#)
            #expect(refused[header: "retry-after"] == "7")
            #expect(try await client.list().status == 200)
            #expect(running.simulator.journal().map(\.fault) == [nil, nil, "f", nil])
        }
    }

    @Test func `a known reason in a fault is spelled as the simulator's quirk says`() async throws {
        try await meet(#"{"action": "refuse", "reason": "ServiceUnavailable"}"#) { running, client in
            #expect(try await client.list().text == #"{"reason":"ServiceUnavailable"}"#)
            try running.simulator.setQuirk("service-unavailable", to: "Service Unavailable")
            #expect(try await client.list().text == #"{"reason":"Service Unavailable"}"#)
            #expect(running.simulator.journal().map(\.reason) == [.serviceUnavailable, .serviceUnavailable])
        }
    }

    @Test func `a delayed request is processed at once and answered later`() async throws {
        try await meet(#"{"action": "delay", "seconds": 0.05, "times": 1}"#) { running, client in
            let created = try await client.create(policy: 0)
            #expect(created.status == 201)
            #expect(running.simulator.journal().map(\.fate) == [.held])
        }
    }

    @Test func `a silenced request is neither processed nor answered`() async throws {
        try await meet(#"{"match": {"operation": "create"}, "action": "silence", "times": 1}"#) { running, client in
            _ = try await client.list()
            let lost = Task { try await client.create(policy: 0) }
            _ = try await running.simulator.requests(1) { $0.fate == .unprocessed }
            #expect(running.simulator.channels(of: Bench.bundleID, in: .development).isEmpty)
            lost.cancel()
            await #expect(throws: HTTP2Failure.cancelled) { try await lost.value }
        }
    }

    @Test(arguments: ["reset", "cut"])
    func `a request with a lost answer is processed, and its stream or connection ends`(by: String) async throws {
        try await meet(#"{"action": "lose", "by": "\#(by)", "times": 1}"#) { running, client in
            await #expect(throws: HTTP2Failure.self) { try await client.create(policy: 0) }
            #expect(running.simulator.channels(of: Bench.bundleID, in: .development).count == 1)
            #expect(running.simulator.journal().map(\.fate) == [.dropped])
        }
    }

    @Test(arguments: [
        #"{"action": "refuseStream", "times": 1}"#, #"{"action": "goAway", "manner": "mid", "times": 1}"#,
    ])
    func `the client learns that a request was not processed`(fault: String) async throws {
        try await meet(fault) { running, client in
            await #expect {
                try await client.create(policy: 0)
            } throws: { error in
                (error as? HTTP2Failure)?.isUnprocessed == true
            }
            #expect(running.simulator.channels(of: Bench.bundleID, in: .development).isEmpty)
        }
    }

    @Test func `GOAWAY after the answer ends the connection, and a rolling GOAWAY ends all connections`() async throws {
        try await meet(#"{"action": "goAway", "manner": "rolling", "reason": "Shutdown", "times": 1}"#) {
            running, client in
            let other = try await running.connect()
            let elsewhere = try await running.connect(.production)
            #expect(try await client.list().status == 200)
            #expect(await client.connection.closed().contains("Shutdown"))
            #expect(await other.closed().contains("Shutdown"))
            let production = Client(connection: elsewhere, token: try running.token())
            #expect(try await production.list().status == 200)
        }
    }

    @Test func `SETTINGS changes the number of streams`() async throws {
        try await meet(#"{"match": {"nth": 2}, "action": "settings", "maximumStreams": 3}"#) { _, client in
            _ = try await client.list()
            #expect(client.connection.streamLimit == 1_000)
            _ = try await client.list()
            #expect(client.connection.streamLimit == 3)
        }
    }

    @Test func `a connection can be cut or read slowly`() async throws {
        try await meet(#"{"match": {"nth": 2}, "action": "cut"}"#) { _, client in
            _ = try await client.list()
            await #expect(throws: HTTP2Failure.self) { try await client.list() }
        }
        try await meet(#"{"action": "slowReads", "seconds": 0.05, "times": 1}"#) { _, client in
            _ = try await client.list()
            #expect(try await client.list().status == 200)
        }
    }

    @Test(arguments: ["handshake", "certificate"])
    func `TLS fails in the handshake, or with a certificate for another name`(failure: String) async throws {
        let folder = try TemporaryFolder()
        try await RunningSimulator.with(in: folder.path) { running in
            try running.simulator.addFaults(
                #"{"faults": [{"match": {"environment": "production"}, "action": "tls", "failure": "\#(failure)", "times": 1}]}"#
            )
            await #expect(throws: HTTP2ConnectError.self) { try await running.connect(.production) }
            let client = Client(connection: try await running.connect(.production), token: try running.token())
            #expect(try await client.list().status == 200)
        }
    }

    @Test func `faults turn off an app's capability, remove its channels or set its quota`() async throws {
        try await meet(#"{"match": {"operation": "list"}, "action": "vanish"}"#) { running, client in
            _ = try await client.create(policy: 0)
            #expect(try await client.list().text == #"{"channels":[]}"#)
        }
        try await meet(#"{"match": {"nth": 2}, "action": "capabilityOff"}"#) { running, client in
            _ = try await client.create(policy: 0)
            #expect(try await client.list().text == #"{"reason":"BroadcastFeatureNotEnabled"}"#)
        }
        try await meet(#"{"match": {"nth": 1}, "action": "quota", "channels": 1}"#) { running, client in
            _ = try await client.create(policy: 0)
            #expect(try await client.create(policy: 0).text == #"{"reason":"CannotCreateChannelConfig"}"#)
        }
    }

    /// Runs `body` with a simulator that has one fault, named `f`.
    private func meet(
        _ fault: String, _ body: (RunningSimulator, Client) async throws -> Void
    ) async throws {
        let folder = try TemporaryFolder()
        try await RunningSimulator.with(in: folder.path) { running in
            try running.simulator.addFaults(#"{"faults": [{"name": "f", \#(fault.dropFirst())]}"#)
            try await body(running, Client(connection: try await running.connect(), token: try running.token()))
        }
    }
}

extension HTTP2Failure {
    var isUnprocessed: Bool { if case .notProcessed = self { true } else { false } }
}
