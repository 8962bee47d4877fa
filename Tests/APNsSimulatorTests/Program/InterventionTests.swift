internal import APNsSimulator
internal import APNsWire
internal import HTTP2
internal import Testing

/// The journal, and the interventions of a test over the wire: answers that are withheld, dropped or replaced.
@Suite(.timeLimit(.minutes(20)))
struct InterventionTests {
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

    @Test func `an answer in place of APNs' own changes no state and has the request's ID`() async throws {
        try await RunningSimulator.withClient { running, client in
            running.simulator.answerNext(2, with: .refusal(.serviceUnavailable)) { $0.method == "POST" }
            running.simulator.answerNext(with: .refusal(APNsReason(rawValue: "NewOne"), status: 418))
            let id = "0198b2c4-5c4e-7b4a-9d43-0a3f5e1c2b7d"
            let first = try await client.send("POST", "/3/device/abcd", ["apns-id": id], "{}")
            #expect(first.status == 503)
            #expect(first.text == #"{"reason":"ServiceUnavailable"}"#)
            #expect(first[header: "apns-id"] == id)
            #expect(first[header: "apns-request-id"] == nil)
            let list = try await client.list()
            #expect(list.status == 418)
            #expect(list.text == #"{"reason":"NewOne"}"#)
            #expect(list[header: "apns-request-id"]?.count == 36)
            #expect(try await client.create(policy: 0).status == 503)
            #expect(try await client.create(policy: 0).status == 201)
            #expect(running.simulator.channels(of: Bench.bundleID, in: .development).count == 1)
            let entries = running.simulator.journal()
            #expect(entries.map(\.status) == [503, 418, 503, 201])
            #expect(entries[0].operation == .device)
            #expect(entries[0].requestID == id)
        }
    }
}
