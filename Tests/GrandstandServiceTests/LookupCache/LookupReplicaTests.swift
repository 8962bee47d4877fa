internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import Logging
internal import Synchronization
internal import Testing

@testable internal import GrandstandService

@Suite("Lookup replica", .timeLimit(.minutes(1)))
struct LookupReplicaTests {
    private static let topic = "com.example.goal"

    /// A database of one kind of record, whose announcements the test makes.
    private final class FakeSource: LookupSource, EventStore {
        struct State {
            var channelIDs: [EventKey: String] = [:]
            /// By version; positions are numbers of transactions here.
            var journal: [LookupChange] = []
            var fails = false
            var lookups = 0
        }

        let state = Mutex(State())
        let stream = AsyncStream.makeStream(of: LookupAnnouncement.self)
        /// One element for each look into the journal: whether it failed.
        let looks = AsyncStream.makeStream(of: Bool.self)
        /// While set, pages wait for the gate.
        let pages: Gate?

        init(pages: Gate? = nil) { self.pages = pages }

        func announcements() -> AsyncStream<LookupAnnouncement> { stream.stream }

        func position() async throws -> LookupPosition {
            try state.withLock { state in
                if state.fails { throw Problem(.storeUnavailable, "down") }
                return LookupPosition(text: "\(state.journal.count)", floor: UInt64(state.journal.count))
            }
        }

        func changes(
            since position: LookupPosition
        ) async throws -> (changes: [LookupChange], position: LookupPosition) {
            let (journal, fails) = state.withLock { ($0.journal, $0.fails) }
            looks.continuation.yield(fails)
            if fails { throw Problem(.storeUnavailable, "down") }
            return (
                Array(journal.dropFirst(Int(position.text) ?? 0)),
                LookupPosition(text: "\(journal.count)", floor: UInt64(journal.count))
            )
        }

        func tidy() async throws {}

        /// Changes the event and notes it in the journal.
        func put(_ channelID: String?, announced: Bool = true) {
            let key = LookupReplicaTests.key("derby")
            let change = state.withLock { state in
                state.channelIDs[key] = channelID
                let change = LookupChange(version: UInt64(state.journal.count + 1), subject: .event(key))
                state.journal.append(change)
                return change
            }
            if announced { stream.continuation.yield(.change(change)) }
        }

        func records(of keys: [EventKey]) async throws -> [EventKey: [LookupRecord]] {
            let state = state.withLock { $0 }
            if state.fails { throw Problem(.storeUnavailable, "down") }
            return state.channelIDs.filter { keys.contains($0.key) }.mapValues { [Self.record($0)] }
        }

        func page(
            after: EventKey?, limit: Int
        ) async throws -> (records: [EventKey: [LookupRecord]], next: EventKey?) {
            guard after == nil else { return ([:], nil) }
            let ids = state.withLock { $0.channelIDs }
            await pages?.pass()
            return (ids.mapValues { [Self.record($0)] }, ids.keys.first)
        }

        func lookup(
            topic: String, in environment: APNsEnvironment, _ key: EventKey, contentState: Bool, now: Date
        ) async throws -> LookupEntry? {
            let id = state.withLock { state in
                state.lookups += 1
                return state.channelIDs[key]
            }
            return id.map {
                LookupEntry(
                    eventKey: key, state: .scheduled, storagePolicy: .noMessageStored, channelID: $0, startsAt: nil,
                    endsAt: nil)
            }
        }

        private static func record(_ channelID: String) -> LookupRecord {
            LookupRecord(
                topic: LookupReplicaTests.topic, environment: .production, storagePolicy: .noMessageStored,
                channelID: channelID)
        }

        func put(
            _ specification: EventSpecification, by actor: AuditActor, now: Date
        ) async throws -> (event: Event, created: Bool) { throw NotScripted() }
        func event(_ key: EventKey, now: Date) async throws -> Event? { throw NotScripted() }
        func events(where filter: EventFilter, _ page: PageRequest, now: Date) async throws -> Page<Event> {
            throw NotScripted()
        }
        func cancel(_ key: EventKey, by actor: AuditActor, now: Date) async throws { throw NotScripted() }
    }

    /// Lets callers through one at a time, when the test says so.
    private final class Gate: Sendable {
        let arrivals = AsyncStream.makeStream(of: Void.self)
        let passes = AsyncStream.makeStream(of: Void.self)

        func pass() async {
            arrivals.continuation.yield()
            var iterator = passes.stream.makeAsyncIterator()
            await iterator.next()
        }
    }

    private final class Clock: Sendable {
        private let date = Mutex(Date(timeIntervalSince1970: 1_700_000_000))
        var now: Date { date.withLock { $0 } }
        func advance(by seconds: Double) { date.withLock { $0 = $0.addingTimeInterval(seconds) } }
    }

    private func withReplica(
        _ source: FakeSource = FakeSource(), _ body: (LookupReplica, FakeSource, Clock) async throws -> Void
    ) async throws {
        let clock = Clock()
        var settings = LookupReplica.Settings()
        settings.interval = .milliseconds(10)
        let replica = LookupReplica(
            source: source, events: source, settings: settings, now: { clock.now },
            logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }))
        source.state.withLock { $0.channelIDs[Self.key("derby")] = "one" }
        let running = Task { await replica.run() }
        source.stream.continuation.yield(.listening)
        do {
            try await body(replica, source, clock)
        } catch {
            running.cancel()
            throw error
        }
        running.cancel()
        await running.value
    }

    private static func key(_ text: String) -> EventKey {
        guard let key = EventKey(rawValue: text) else { preconditionFailure("not a key") }
        return key
    }

    /// Waits until memory says this of the event.
    private func expect(_ channelID: String?, of replica: LookupReplica) async {
        while channelIDKnown(replica) != channelID { await Task.yield() }
    }

    private func known(_ replica: LookupReplica) -> (answer: LookupAnswer, freshness: LookupReplica.Freshness)? {
        Array(Self.topic.utf8).withUnsafeBytes { topic in
            Array("derby".utf8).withUnsafeBytes { replica.known(bundleID: topic, in: .production, $0) }
        }
    }

    private func channelIDKnown(_ replica: LookupReplica) -> String? {
        guard case .found(let body)? = known(replica)?.answer else { return nil }
        let text = String(decoding: body.bytes, as: UTF8.self)
        return text.split(separator: "\"channelId\":\"").last?.split(separator: "\"").first.map(String.init)
    }

    @Test("everything is read at first; an announcement replaces or removes one event")
    func follows() async throws {
        try await withReplica { replica, source, _ in
            await expect("one", of: replica)
            source.put("two")
            await expect("two", of: replica)
            source.put(nil)
            await expect(nil, of: replica)
            #expect(source.state.withLock { $0.lookups } == 0)
        }
    }

    @Test("a change that is never announced is found in the journal")
    func lostAnnouncement() async throws {
        try await withReplica { replica, source, _ in
            await expect("one", of: replica)
            source.put("two", announced: false)
            await expect("two", of: replica)
        }
    }

    @Test("announcements are followed while everything is read, and are not written over by what was read before them")
    func duringReading() async throws {
        let gate = Gate()
        try await withReplica(FakeSource(pages: gate)) { replica, source, _ in
            var arrivals = gate.arrivals.stream.makeAsyncIterator()
            await arrivals.next()
            gate.passes.continuation.yield()
            await expect("one", of: replica)
            source.stream.continuation.yield(.listening)
            // A page holds "one" now and waits; what is known goes on changing meanwhile.
            await arrivals.next()
            source.put("two")
            await expect("two", of: replica)
            gate.passes.continuation.yield()
            while replica.backlog.withLock(\.isReading) { await Task.yield() }
            await expect("two", of: replica)
            let isAside = replica.state.withLock { $0.building != nil }
            #expect(!isAside)
            #expect(channelIDKnown(replica) == "two")
        }
    }

    @Test("listening anew reads everything: what was announced meanwhile is not known")
    func reconnected() async throws {
        try await withReplica { replica, source, _ in
            await expect("one", of: replica)
            source.state.withLock { $0.channelIDs[Self.key("derby")] = "two" }
            source.stream.continuation.yield(.listening)
            await expect("two", of: replica)
        }
    }

    @Test("while the database is down it answers with the age, for a bounded time, and nothing new is asked of it")
    func outage() async throws {
        try await withReplica { replica, source, clock in
            await expect("one", of: replica)
            source.state.withLock { $0.fails = true }
            var looks = source.looks.stream.makeAsyncIterator()
            while await looks.next() == false {}
            let last = replica.state.withLock { $0.confirmedAt }
            let confirmedAt = try #require(last)
            clock.advance(by: 30 - clock.now.timeIntervalSince(confirmedAt))
            #expect(known(replica)?.freshness == .stale(seconds: 30))
            let unknown = try await replica.answer(topic: Self.topic, in: .production, Self.key("cup"))
            #expect(unknown.answer == nil)
            #expect(unknown.freshness == .stale(seconds: 30))
            #expect(source.state.withLock { $0.lookups } == 0)
            clock.advance(by: 571)
            #expect(known(replica) == nil)
        }
    }

    @Test("an unknown event is asked of the database once a second")
    func misses() async throws {
        try await withReplica { replica, source, _ in
            await expect("one", of: replica)
            for _ in 1...50 {
                let miss = try await replica.answer(topic: Self.topic, in: .production, Self.key("cup"))
                #expect(miss.answer == nil)
            }
            #expect(source.state.withLock { $0.lookups } == 1)
        }
    }

    @Test("before anything is read the database is asked in bounded number too, and the rest told to come again")
    func unread() async throws {
        let source = FakeSource()
        let clock = Clock()
        let replica = LookupReplica(
            source: source, events: source, now: { clock.now },
            logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }))
        for number in 1...100 {
            _ = try await replica.answer(topic: Self.topic, in: .production, Self.key("event-\(number)"))
        }
        let refusal = await #expect(throws: Problem.self) {
            try await replica.answer(topic: Self.topic, in: .production, Self.key("event-101"))
        }
        #expect(refusal?.kind == .storeUnavailable)
        #expect(refusal?.retryAfter == 1)
        #expect(source.state.withLock { $0.lookups } == 100)
    }
}
