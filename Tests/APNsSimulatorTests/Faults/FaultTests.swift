internal import APNsWire
internal import JSON
internal import Testing

@testable internal import APNsSimulator

struct FaultTests {
    /// A fault, and what is written of it if that is something else.
    @Test(arguments: [
        (
            #""name":"a","match":{"operation":"broadcast","nth":3},"action":"refuse","reason":"TooManyRequests","retryAfter":2"#,
            #""name":"a","match":{"operation":"broadcast","nth":3},"action":"refuse","reason":"TooManyRequests","status":429,"retryAfter":2"#
        ),
        (#""name":"","match":{},"action":"refuse","reason":"Strange","status":418,"times":1"#, nil),
        (#""name":"","match":{"environment":"production","rate":0.25},"action":"delay","seconds":1.5"#, nil),
        (#""action":"delay""#, #""name":"","match":{},"action":"delay""#),
        (#""action":"silence""#, #""name":"","match":{},"action":"silence""#),
        (#""action":"lose""#, #""name":"","match":{},"action":"lose","by":"silence""#),
        (#""action":"lose","by":"cut""#, #""name":"","match":{},"action":"lose","by":"cut""#),
        (#""action":"reset","code":8"#, #""name":"","match":{},"action":"reset","code":"CANCEL""#),
        (#""action":"reset""#, #""name":"","match":{},"action":"reset","code":"INTERNAL_ERROR""#),
        (#""action":"refuseStream""#, #""name":"","match":{},"action":"refuseStream""#),
        (
            #""action":"goAway""#,
            #""name":"","match":{},"action":"goAway","manner":"clean","reason":"Shutdown","code":"NO_ERROR""#
        ),
        (#""name":"","match":{},"action":"goAway","manner":"mid","reason":"IdleTimeout","code":"CANCEL""#, nil),
        (#""name":"","match":{},"action":"settings","maximumStreams":1"#, nil),
        (#""name":"","match":{},"action":"cut""#, nil),
        (#""name":"","match":{},"action":"slowReads","seconds":0.5"#, nil),
        (#""name":"","match":{},"action":"reorder""#, nil), (#""name":"","match":{},"action":"capabilityOff""#, nil),
        (#""name":"","match":{},"action":"vanish""#, nil),
        (#""name":"","match":{},"action":"quota","channels":2"#, nil),
        (
            #""name":"","match":{"environment":"development","every":2},"action":"tls","failure":"certificate""#, nil
        ),
    ])
    func `every action is read, and written in the same form with its defaults`(text: String, written: String?) throws {
        let script = try Self.read(#"{"seed": 7, "faults": [{\#(text)}]}"#)
        #expect(script.seed == 7)
        let fault = try #require(script.faults?.first)
        #expect(
            String(decoding: JSONWriter.text(fault), as: UTF8.self) == #"{\#(written ?? text),"seen":0,"acted":0}"#)
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
        #expect(book.claim(connectionTo: .development) == nil)
        #expect(book.claim(connectionTo: .production)?.failure == .certificate)
        #expect(book.claim(connectionTo: .production) == nil)
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
        claim(request, try? Route(method: request.method, path: request.path))
    }

    /// - Parameter members: the members of a fault's JSON.
    fileprivate mutating func add(_ members: String) throws {
        _ = try add(JSONValue(Array("{\(members)}".utf8), at: "the fault").read(Fault.self, at: "the fault"))
    }
}
