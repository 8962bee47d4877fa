internal import APNsWire
internal import HTTP2
internal import JSON
internal import Testing

@testable internal import APNsSimulator

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
            _ = try await running.simulator.awaitRequests(1) { $0.fate == .held }
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
            _ = try await running.simulator.awaitRequests(1) { $0.fate == .unprocessed }
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
            #expect(await client.connection.untilClosed().contains("Shutdown"))
            #expect(await other.untilClosed().contains("Shutdown"))
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
        (#""action": "vanish""#, #"{"channels":[]}"#),
        (#""action": "capabilityOff""#, #"{"reason":"BroadcastFeatureNotEnabled"}"#),
        (#""action": "quota", "channels": 1"#, #"{"reason":"CannotCreateChannelConfig"}"#),
    ])
    func `a fault removes an app's channels, turns off its capability, or sets its quota`(
        fault: String, answer: String
    ) async throws {
        try await meet(#"{"match": {"nth": 2}, \#(fault)}"#) { _, client in
            _ = try await client.create(policy: 0)
            let isQuota = fault.contains("quota")
            #expect(try await (isQuota ? client.create(policy: 0) : client.list()).text == answer)
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

struct FaultTests {
    /// A fault, and what is written of it if that is something else. Without a name and a match, both are written empty.
    @Test(arguments: [
        (
            #""name":"a","match":{"nth":3},"action":"refuse","reason":"TooManyRequests","retryAfter":2"#,
            #""name":"a","match":{"nth":3},"action":"refuse","reason":"TooManyRequests","status":429,"retryAfter":2"#
        ),
        (#""action":"refuse","reason":"Strange","status":418,"times":1"#, nil),
        (#""name":"","match":{"environment":"production","rate":0.25},"action":"delay","seconds":1.5"#, nil),
        (#""action":"delay""#, nil), (#""action":"lose""#, #""action":"lose","by":"silence""#),
        (#""action":"lose","by":"cut""#, nil), (#""action":"reset","code":8"#, #""action":"reset","code":"CANCEL""#),
        (#""action":"reset""#, #""action":"reset","code":"INTERNAL_ERROR""#),
        (
            #""action":"goAway""#,
            #""action":"goAway","manner":"clean","reason":"Shutdown","code":"NO_ERROR""#
        ),
        (#""action":"goAway","manner":"mid","reason":"IdleTimeout","code":"CANCEL""#, nil),
        (#""action":"settings","maximumStreams":1"#, nil), (#""action":"slowReads","seconds":0.5"#, nil),
        (#""action":"reorder""#, nil), (#""action":"quota","channels":2"#, nil),
        (#""name":"","match":{"operation":"create","every":2},"action":"cut""#, nil),
        (#""name":"","match":{"environment":"development"},"action":"tls","failure":"certificate""#, nil),
    ])
    func `an action is read, and written in the same form with its defaults`(text: String, written: String?) throws {
        let script = try Self.read(#"{"seed": 7, "faults": [{\#(text)}]}"#)
        #expect(script.seed == 7)
        let fault = try #require(script.faults?.first)
        let start = text.hasPrefix(#""action""#) ? #""name":"","match":{},"# : ""
        let all = #"{\#(start)\#(written ?? text),"seen":0,"acted":0}"#
        #expect(String(decoding: JSONWriter.text(fault), as: UTF8.self) == all)
    }

    @Test(arguments: [
        (#"{"#, "is not JSON"), (#"{"fault": []}"#, "\"fault\" is unknown"),
        (#"{"faults": [{}]}"#, "faults[0].action: missing"),
        (#"{"faults": [{"action": "explode"}]}"#, "\"explode\" is not one of"),
        (#"{"faults": [{"action": "silence", "seconds": 1}]}"#, "\"seconds\" is unknown"),
        (#"{"faults": [{"action": "silence", "action": "cut"}]}"#, "occurs twice"),
        (#"{"faults": [{"action": "delay", "seconds": "1"}]}"#, "faults[0].seconds"),
        (#"{"faults": [{"action": "delay", "seconds": 99999}]}"#, "to 3600"),
        (#"{"faults": [{"action": "refuse", "reason": "Strange"}]}"#, "Apple does not document the reason"),
        (#"{"faults": [{"action": "reset", "code": "OOPS"}]}"#, "not an error code of RFC 9113"),
        (#"{"faults": [{"action": "silence", "times": 0}]}"#, "faults[0].times"),
        (#"{"faults": [{"action": "silence", "match": {"rate": 1.5}}]}"#, "faults[0].match.rate"),
        (#"{"faults": [{"action": "tls", "match": {"path": "/"}}]}"#, "faults[0].match: tls has only"),
    ])
    func `an error names the place of the mistake`(script: String, complaint: String) {
        #expect {
            try Self.read(script)
        } throws: { error in
            let text = "\(error)"
            return text.contains(complaint) && text.hasPrefix("script") && !text.contains("\n")
        }
    }

    private static func read(_ script: String) throws -> FaultBook.Script {
        try JSONValue(Array(script.utf8), at: "script").read(at: "script")
    }
}

/// Which faults act on which requests.
struct FaultBookTests {
    private let broadcast = SimulatorRequest(
        environment: .development, method: "POST", path: "/4/broadcasts/apps/com.example.Scores",
        headers: [.init("apns-channel-id", "AAAA")])
    private let list = SimulatorRequest(
        environment: .production, method: "GET", path: "/1/apps/com.example.scores/all-channels")

    @Test(arguments: [
        ("", true, true), (#""operation": "broadcast""#, true, false), (#""environment": "production""#, false, true),
        (#""method": "POST""#, true, false), (#""bundleId": "COM.example.SCORES""#, true, true),
        (#""bundleId": "com.example""#, false, false), (#""channelId": "AAAA""#, true, false),
        (#""path": "/4/*""#, true, false), (#""path": "/1/apps/com.example.scores/all-channels""#, false, true),
        (#""operation": "broadcast", "environment": "production""#, false, false),
    ])
    func `a fault acts only on requests that match`(match: String, actsOnBroadcast: Bool, actsOnList: Bool) throws {
        var book = FaultBook(seed: 1)
        try book.add(#""action": "silence", "match": {\#(match)}"#)
        #expect((book.claim(broadcast) != nil) == actsOnBroadcast)
        #expect((book.claim(list) != nil) == actsOnList)
    }

    @Test func `a fault acts on the nth request, on every nth, or a limited number of times`() throws {
        #expect(try acts(#""nth": 3"#) == [3])
        #expect(try acts(#""every": 4"#) == [4, 8, 12])
        #expect(try acts(#""every": 4"#, times: 2) == [4, 8])
        #expect(try acts("", times: 2) == [1, 2])
    }

    @Test func `a fault with a rate acts on random requests, the same ones with the same seed`() throws {
        let first = try (0..<3).map { _ in try acts(#""rate": 0.5"#, seed: 42) }
        #expect(Set(first).count == 1)
        #expect((1..<12).contains(first[0].count))
        #expect(try acts(#""rate": 0"#).isEmpty)
        #expect(try acts(#""rate": 1"#).count == 12)
        let many = try (0..<200).map { try acts(#""rate": 0.25"#, seed: UInt64($0)).count }
        #expect((400...800).contains(many.reduce(0, +)))
    }

    @Test func `only the first matching fault acts, names are unique, and a removed fault no longer acts`() throws {
        var book = FaultBook(seed: 1)
        try book.add(#""name": "a", "match": {"nth": 1}, "action": "silence""#)
        try book.add(#""name": "b", "action": "cut""#)
        #expect(throws: SimulatorError.self) { try book.add(#""name": "a", "action": "cut""#) }
        let names = (0..<2).map { _ in book.claim(list)?.name }
        #expect(names == ["a", "b"])
        let removed = (0..<2).map { _ in book.remove { $0.name == "b" } != nil }
        #expect(removed == [true, false])
        #expect(book.claim(list) == nil)
        #expect(book.faults.map(\.seen) == [3])
    }

    @Test func `only TLS faults act on connections`() throws {
        var book = FaultBook(seed: 1)
        try book.add(#""action": "cut""#)
        try book.add(
            #""match": {"environment": "production"}, "action": "tls", "failure": "certificate", "times": 1"#)
        #expect(book.trigger(connectionTo: .development) == nil)
        #expect(book.trigger(connectionTo: .production)?.failure == .certificate)
        #expect(book.trigger(connectionTo: .production) == nil)
        #expect(book.claim(list)?.action == .cut)
    }

    private func acts(_ match: String, times: Int? = nil, seed: UInt64 = 7) throws -> [Int] {
        var book = FaultBook(seed: seed)
        let limit = times.map { #", "times": \#($0)"# } ?? ""
        try book.add(#""action": "silence", "match": {\#(match)}\#(limit)"#)
        return (1...12).filter { _ in book.claim(list) != nil }
    }
}

extension FaultBook {
    fileprivate mutating func claim(_ request: SimulatorRequest) -> Fault? {
        trigger(request, try? Route(method: request.method, path: request.path))
    }

    /// - Parameter members: the members of a fault's JSON.
    fileprivate mutating func add(_ members: String) throws {
        _ = try add(JSONValue(Array("{\(members)}".utf8), at: "the fault").read(Fault.self, at: "the fault"))
    }
}
