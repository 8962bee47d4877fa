internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import PortFakes
internal import Testing

@testable internal import GrandstandStore

@Suite(.timeLimit(.minutes(20)))
struct LookupContentsTests {
    /// A database whose queries wait for the test.
    private final class Events: Sendable {
        let asked = AsyncStream.makeStream(of: Set<LookupName>.self)
        let go = AsyncStream.makeStream(of: String.self)

        var store: FakeEvents {
            var store = FakeEvents()
            store.look = { [self] names, contentState in
                #expect(contentState)
                return try await answer(names)
            }
            return store
        }

        private func answer(_ names: Set<LookupName>) async throws -> [LookupName: LookupEntry] {
            asked.continuation.yield(names)
            var iterator = go.stream.makeAsyncIterator()
            let channelID = await iterator.next()
            if channelID == "down" { throw Problem(.storeUnavailable, "down") }
            return Dictionary(
                uniqueKeysWithValues: names.map { name in
                    let entry = LookupEntry(
                        eventKey: name.key, state: .live, storagePolicy: .noMessageStored, channelID: channelID,
                        startsAt: nil, endsAt: nil)
                    return (name, entry)
                })
        }
    }

    private static func name(_ key: String = "derby") throws -> LookupName {
        LookupName(topic: "com.example.goal", environment: .production, key: try #require(EventKey(rawValue: key)))
    }

    private static func text(_ answer: LookupAnswer?) -> String {
        guard case .found(let body)? = answer else { return "" }
        return String(decoding: body.bytes, as: UTF8.self)
    }

    @Test func `callers during a query share one more query, with each name once`() async throws {
        let events = Events()
        let contents = LookupContents(events: events.store, now: { Date(timeIntervalSince1970: 0) })
        var asked = events.asked.stream.makeAsyncIterator()
        let names = try (0..<20).map { try Self.name("event-\($0)") }
        try await withThrowingTaskGroup(of: String.self) { group in
            group.addTask { Self.text(try await contents.answer(names[0])) }
            let asked1 = await asked.next()
            #expect(asked1 == [names[0]])
            for number in 0..<1_000 { group.addTask { Self.text(try await contents.answer(names[number % 20])) } }
            while contents.waitingCount < 1_000 { await Task.yield() }
            events.go.continuation.yield("first")
            let first = try await group.next()
            #expect(first?.contains(#""first""#) == true)
            let asked2 = await asked.next()
            #expect(asked2 == Set(names))
            events.go.continuation.yield("second")
            // A caller that asked after the first query began does not get the result of that query.
            for try await text in group { #expect(text.contains(#""second""#)) }
        }
    }

    @Test func `one query has a limited number of names, and its failure goes to the callers that waited for it`()
        async throws
    {
        let events = Events()
        let contents = LookupContents(events: events.store, now: { Date(timeIntervalSince1970: 0) })
        var asked = events.asked.stream.makeAsyncIterator()
        try await withThrowingTaskGroup(of: Problem.Kind?.self) { group in
            func ask(_ key: String) throws {
                let name = try Self.name(key)
                group.addTask {
                    do {
                        _ = try await contents.answer(name)
                        return nil
                    } catch let problem as Problem {
                        return problem.kind
                    }
                }
            }
            try ask("first")
            let asked3 = await asked.next()
            #expect(asked3?.count == 1)
            for number in 0..<150 { try ask("event-\(number)") }
            while contents.waitingCount < 150 { await Task.yield() }
            events.go.continuation.yield("down")
            let refused = try await group.next()
            #expect(refused == .storeUnavailable)
            let asked4 = await asked.next()
            #expect(asked4?.count == 100)
            events.go.continuation.yield("up")
            let asked5 = await asked.next()
            #expect(asked5?.count == 50)
            events.go.continuation.yield("up")
            for try await kind in group { #expect(kind == nil) }
        }
    }

    @Test func `more than ten thousand callers do not wait, but must retry later`() async throws {
        let events = Events()
        let contents = LookupContents(events: events.store, now: { Date(timeIntervalSince1970: 0) })
        var asked = events.asked.stream.makeAsyncIterator()
        let name = try Self.name()
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { _ = try await contents.answer(name) }
            _ = await asked.next()
            for _ in 0..<10_000 { group.addTask { _ = try await contents.answer(name) } }
            while contents.waitingCount < 10_000 { await Task.yield() }
            let refusal = await #expect(throws: Problem.self) { try await contents.answer(name) }
            #expect(refusal?.kind == .storeUnavailable)
            #expect(refusal?.retryAfter == 1)
            for _ in 0..<2 { events.go.continuation.yield("up") }
            try await group.waitForAll()
        }
    }
}
