internal import APNsSimulator
internal import APNsWire
internal import Foundation
internal import HTTP2
internal import Testing

/// The journal, and the interventions of a test over the wire: answers that are withheld, dropped or replaced.
@Suite(.timeLimit(.minutes(1)))
struct InterventionTests {
    @Test func `the journal has every request with its result`() async throws {
        let folder = try TemporaryFolder()
        try await RunningSimulator.with(in: folder.path) { running in
            let client = Client(connection: try await running.connect(.production), token: try running.token())
            _ = try await client.create(policy: 0)
            _ = try await client.broadcast(on: "AAAA")
            let entries = running.simulator.journal()
            #expect(entries.map(\.number) == [1, 2])
            #expect(entries.map(\.status) == [201, 400])
            #expect(entries.map(\.reason) == [nil, .badChannelId])
            #expect(entries.map(\.request.method) == ["POST", "POST"])
            #expect(entries.map(\.request.environment) == [.production, .production])
            #expect(entries.last?.request.path == "/4/broadcasts/apps/com.example.scores")
            #expect(entries.last?.request[header: "apns-priority"] == "10")
            #expect(entries.last?.request.body == Array(Bench.update.utf8))
            #expect(Set(entries.map(\.request.connection)).count == 1)
            running.simulator.clearJournal()
            #expect(running.simulator.journal().isEmpty)
        }
    }

    @Test func `waiting callers get the requests that match, including earlier ones`() async throws {
        let folder = try TemporaryFolder()
        try await RunningSimulator.with(in: folder.path) { running in
            let client = Client(connection: try await running.connect(), token: try running.token())
            _ = try await client.list()
            async let found = running.simulator.requests(2) { $0.request.method == "GET" }
            _ = try await client.create(policy: 0)
            _ = try await client.list()
            #expect(try await found.map(\.number) == [1, 3])
        }
    }

    @Test func `a wait ends when its task is cancelled, and when the simulator stops`() async throws {
        let folder = try TemporaryFolder()
        let waiter = try await RunningSimulator.with(in: folder.path) { running in
            let cancelled = Task { try await running.simulator.requests(1) }
            cancelled.cancel()
            await #expect(throws: CancellationError.self) { try await cancelled.value }
            return Task { try await running.simulator.requests(1) }
        }
        await #expect(throws: (any Error).self) { try await waiter.value }
    }

    @Test func `withheld answers are sent completely after the release`() async throws {
        let folder = try TemporaryFolder()
        try await RunningSimulator.with(in: folder.path) { running in
            let client = Client(connection: try await running.connect(), token: try running.token())
            let hold = running.simulator.hold { $0.method == "POST" }
            async let created = client.create(policy: 0)
            let entries = try await running.simulator.requests(1)
            #expect(entries.map(\.fate) == [.held])
            #expect(running.simulator.channels(of: Bench.bundleID, in: .development).count == 1)
            hold.release()
            #expect(try await created.status == 201)
            #expect(try await client.create(policy: 0).status == 201)
        }
    }

    @Test func `a request with a dropped answer is processed and never answered`() async throws {
        let folder = try TemporaryFolder()
        try await RunningSimulator.with(in: folder.path) { running in
            let client = Client(connection: try await running.connect(), token: try running.token())
            _ = try await client.list()
            running.simulator.dropNext { $0.method == "POST" }
            let lost = Task { try await client.create(policy: 0) }
            let entries = try await running.simulator.requests(1) { $0.fate == .dropped }
            #expect(entries.map(\.status) == [201])
            #expect(try await client.create(policy: 0).status == 201)
            #expect(running.simulator.channels(of: Bench.bundleID, in: .development).count == 2)
            lost.cancel()
            await #expect(throws: HTTP2Failure.cancelled) { try await lost.value }
        }
    }

    @Test func `an answer in place of APNs' own changes no state and has the request's ID`() async throws {
        let folder = try TemporaryFolder()
        try await RunningSimulator.with(in: folder.path) { running in
            let client = Client(connection: try await running.connect(), token: try running.token())
            running.simulator.answerNext(2, with: .refusal(.serviceUnavailable)) { $0.method == "POST" }
            running.simulator.answerNext(with: .refusal(APNsReason(rawValue: "NewOne"), status: 418))
            let first = try await client.create(policy: 0)
            #expect(first.status == 503)
            #expect(first.text == #"{"reason":"ServiceUnavailable"}"#)
            #expect(first[header: "apns-request-id"]?.count == 36)
            let list = try await client.list()
            #expect(list.status == 418)
            #expect(list.text == #"{"reason":"NewOne"}"#)
            #expect(try await client.create(policy: 0).status == 503)
            #expect(try await client.create(policy: 0).status == 201)
            #expect(running.simulator.channels(of: Bench.bundleID, in: .development).count == 1)
        }
    }

    @Test func `an injected answer to a device push has apns-id, and the journal has the request`()
        async throws
    {
        let folder = try TemporaryFolder()
        try await RunningSimulator.with(in: folder.path) { running in
            let client = Client(connection: try await running.connect(), token: try running.token())
            running.simulator.answerNext(2, with: .refusal(.tooManyRequests))
            let id = "0198b2c4-5c4e-7b4a-9d43-0a3f5e1c2b7d"
            let own = try await client.send("POST", "/3/device/abcd", ["apns-id": id], "{}")
            #expect(own.status == 429)
            #expect(own[header: "apns-id"] == id)
            #expect(own[header: "apns-request-id"] == nil)
            let new = try await client.send("POST", "/3/device/abcd", ["apns-request-id": id], "{}")
            #expect(new[header: "apns-id"]?.count == 36)
            #expect(new[header: "apns-id"] != id)
            let entries = running.simulator.journal()
            #expect(entries.map(\.operation) == [.device, .device])
            #expect(entries.map(\.requestID) == [id, new[header: "apns-id"]])
        }
    }
}
