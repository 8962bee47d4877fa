internal import APNsWire
internal import JSON
internal import Testing

@testable internal import APNsSimulator

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
