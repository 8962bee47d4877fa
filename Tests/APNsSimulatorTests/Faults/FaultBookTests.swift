internal import APNsWire
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
        (FaultMatch(), true, true), (FaultMatch(operation: .broadcast), true, false),
        (FaultMatch(environment: .production), false, true), (FaultMatch(method: "POST"), true, false),
        (FaultMatch(bundleID: "COM.example.SCORES"), true, true),
        (FaultMatch(bundleID: "com.example"), false, false),
        (FaultMatch(channelID: "AAAA"), true, false), (FaultMatch(path: "/4/*"), true, false),
        (FaultMatch(path: "/1/apps/com.example.scores/all-channels"), false, true),
        (FaultMatch(operation: .broadcast, environment: .production), false, false),
    ])
    func `a fault acts only on requests that match`(match: FaultMatch, actsOnBroadcast: Bool, actsOnList: Bool) throws {
        var book = FaultBook(seed: 1)
        _ = try book.add(Fault(match: match, action: .silence))
        #expect((book.claim(broadcast) != nil) == actsOnBroadcast)
        #expect((book.claim(list) != nil) == actsOnList)
    }

    @Test func `a fault acts on the nth request, on every nth, or a limited number of times`() throws {
        #expect(try acts(FaultMatch(nth: 3), times: nil) == [3])
        #expect(try acts(FaultMatch(every: 4), times: nil) == [4, 8, 12])
        #expect(try acts(FaultMatch(every: 4), times: 2) == [4, 8])
        #expect(try acts(FaultMatch(), times: 2) == [1, 2])
    }

    @Test func `a fault with a rate acts on random requests, the same ones with the same seed`() throws {
        let first = try (0..<3).map { _ in try acts(FaultMatch(rate: 0.5), times: nil, seed: 42) }
        #expect(Set(first).count == 1)
        #expect((1..<12).contains(first[0].count))
        #expect(try acts(FaultMatch(rate: 0), times: nil).isEmpty)
        #expect(try acts(FaultMatch(rate: 1), times: nil).count == 12)
        let many = try (0..<200).map { try acts(FaultMatch(rate: 0.25), times: nil, seed: UInt64($0)).count }
        #expect((400...800).contains(many.reduce(0, +)))
    }

    @Test func `only the first matching fault acts, names are unique, and a removed fault no longer acts`() throws {
        var book = FaultBook(seed: 1)
        _ = try book.add(Fault(name: "a", match: FaultMatch(nth: 1), action: .silence))
        _ = try book.add(Fault(name: "b", action: .cut))
        #expect(throws: SimulatorError.self) { try book.add(Fault(name: "a", action: .cut)) }
        let names = (0..<2).map { _ in book.claim(list)?.name }
        #expect(names == ["a", "b"])
        let removed = (0..<2).map { _ in book.remove { $0.name == "b" } != nil }
        #expect(removed == [true, false])
        #expect(book.claim(list) == nil)
        #expect(book.faults.map(\.seen) == [3])
    }

    @Test func `only TLS faults act on connections`() throws {
        var book = FaultBook(seed: 1)
        _ = try book.add(Fault(action: .cut))
        _ = try book.add(
            Fault(match: FaultMatch(environment: .production), action: .tls(.certificate), times: 1))
        #expect(book.claim(connectionTo: .development) == nil)
        #expect(book.claim(connectionTo: .production) == .certificate)
        #expect(book.claim(connectionTo: .production) == nil)
        #expect(book.claim(list)?.action == .cut)
    }

    private func acts(_ match: FaultMatch, times: Int?, seed: UInt64 = 7) throws -> [Int] {
        var book = FaultBook(seed: seed)
        _ = try book.add(Fault(match: match, action: .silence, times: times))
        return (1...12).filter { _ in book.claim(list) != nil }
    }
}
