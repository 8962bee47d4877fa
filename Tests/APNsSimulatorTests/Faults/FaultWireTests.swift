internal import APNsSimulator
internal import APNsWire
internal import HTTP2
internal import Testing

/// Faults over the wire.
@Suite(.timeLimit(.minutes(20)))
struct FaultWireTests {
    @Test func `a fault refuses the third request only, with the reason as it spells it`() async throws {
        for spelling in ["ServiceUnavailable", "Service Unavailable"] {
            let fault = #"{"match": {"nth": 3}, "action": "refuse", "reason": "\#(spelling)", "retryAfter": 7}"#
            try await meet(fault) { running, client in
                #expect(try await client.list().status == 200)
                #expect(try await client.list().status == 200)
                let refused = try await client.list()
                #expect(refused.status == 503)
                #expect(refused.text == #"{"reason":"\#(spelling)"}"#)
                #expect(refused[header: "retry-after"] == "7")
                #expect(try await client.list().status == 200)
                let entries = running.simulator.journal()
                #expect(entries.map(\.fault) == [nil, nil, "f", nil])
                #expect(entries[2].reason == .serviceUnavailable)
            }
        }
    }

    @Test func `a fault without seconds withholds the answer until it is removed`() async throws {
        try await meet(#"{"action": "delay"}"#) { running, client in
            async let created = client.create(policy: 0)
            _ = try await running.simulator.requests(1) { $0.fate == .held }
            #expect(running.simulator.channels(of: Bench.bundleID, in: .development).count == 1)
            running.simulator.removeFault("f")
            #expect(try await created.status == 201)
            #expect(try await client.list().status == 200)
        }
    }

    @Test func `a refusal changes no state, and has the request's ID`() async throws {
        let fault = #"{"match": {"method": "POST"}, "action": "refuse", "reason": "NewOne", "status": 418, "times": 2}"#
        try await meet(fault) { running, client in
            let id = "0198b2c4-5c4e-7b4a-9d43-0a3f5e1c2b7d"
            let first = try await client.send("POST", "/3/device/abcd", ["apns-id": id], "{}")
            #expect(first.status == 418)
            #expect(first.text == #"{"reason":"NewOne"}"#)
            #expect(first[header: "apns-id"] == id)
            #expect(first[header: "apns-request-id"] == nil)
            let second = try await client.create(policy: 0)
            #expect(second.status == 418)
            #expect(second[header: "apns-request-id"]?.count == 36)
            #expect(try await client.create(policy: 0).status == 201)
            #expect(running.simulator.channels(of: Bench.bundleID, in: .development).count == 1)
            let entries = running.simulator.journal()
            #expect(entries.map(\.status) == [418, 418, 201])
            #expect(entries[0].operation == .device)
            #expect(entries[0].requestID == id)
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

    @Test(arguments: [
        (#"{"action": "lose", "by": "reset", "times": 1}"#, true),
        (#"{"action": "lose", "by": "cut", "times": 1}"#, true), (#"{"action": "cut", "times": 1}"#, false),
        (#"{"action": "refuseStream", "times": 1}"#, false),
        (#"{"action": "goAway", "manner": "mid", "times": 1}"#, false),
    ])
    func `a stream or connection ends without an answer, and the request was processed only if its answer was lost`(
        fault: String, isProcessed: Bool
    ) async throws {
        try await meet(fault) { running, client in
            await #expect {
                try await client.create(policy: 0)
            } throws: { error in
                let isUnprocessed = if case .notProcessed? = error as? HTTP2Failure { true } else { false }
                return isUnprocessed == (fault.contains("refuseStream") || fault.contains("goAway"))
            }
            #expect(running.simulator.channels(of: Bench.bundleID, in: .development).count == (isProcessed ? 1 : 0))
        }
    }

    @Test func `a rolling GOAWAY ends all connections of the environment after the answer`() async throws {
        try await meet(#"{"action": "goAway", "manner": "rolling", "reason": "Shutdown", "times": 1}"#) {
            running, client in
            let other = try await running.connect()
            let production = try await running.client(.production)
            #expect(try await client.list().status == 200)
            #expect(await client.connection.closed().contains("Shutdown"))
            #expect(await other.closed().contains("Shutdown"))
            #expect(try await production.list().status == 200)
        }
    }

    @Test(arguments: ["handshake", "certificate"])
    func `TLS fails in the handshake, or with a certificate for another name`(failure: String) async throws {
        let fault = #"{"match": {"environment": "production"}, "action": "tls", "failure": "\#(failure)", "times": 1}"#
        try await meet(fault) { (running, _) async throws in
            await #expect(throws: HTTP2ConnectError.self) { try await running.connect(.production) }
            #expect(try await running.client(.production).list().status == 200)
        }
    }

    @Test(arguments: [
        (#"{"match": {"nth": 2}, "action": "vanish"}"#, #"{"channels":[]}"#),
        (#"{"match": {"nth": 2}, "action": "capabilityOff"}"#, #"{"reason":"BroadcastFeatureNotEnabled"}"#),
    ])
    func `a fault removes an app's channels, or turns off its capability`(fault: String, list: String) async throws {
        try await meet(fault) { _, client in
            _ = try await client.create(policy: 0)
            #expect(try await client.list().text == list)
        }
    }

    @Test func `a fault sets an app's quota`() async throws {
        try await meet(#"{"match": {"nth": 1}, "action": "quota", "channels": 1}"#) { _, client in
            _ = try await client.create(policy: 0)
            #expect(try await client.create(policy: 0).text == #"{"reason":"CannotCreateChannelConfig"}"#)
        }
    }

    /// Runs `body` with a simulator that has one fault, named `f`.
    private func meet(_ fault: String, _ body: (RunningSimulator, Client) async throws -> Void) async throws {
        try await RunningSimulator.withClient { running, client in
            try running.simulator.addFaults(#"{"faults": [{"name": "f", \#(fault.dropFirst())]}"#)
            try await body(running, client)
        }
    }
}
