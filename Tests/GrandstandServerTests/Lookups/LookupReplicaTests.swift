internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandTestKit
internal import Synchronization
internal import Testing

@testable internal import GrandstandServer

@Suite(.timeLimit(.minutes(20)))
struct LookupReplicaTests {
    @Test func `at first everything is read, and then each announcement replaces or removes one event`() async throws {
        try await LookupWorld.withReplica { replica, source, _ in
            await LookupWorld.expect("one", of: replica)
            source.put("two")
            await LookupWorld.expect("two", of: replica)
            // A change without an announcement is found in the journal.
            source.put("three", announced: false)
            await LookupWorld.expect("three", of: replica)
            source.put(nil)
            await LookupWorld.expect(nil, of: replica)
        }
    }

    @Test func `an outage is logged once, and its end`() async throws {
        let lines = LogLines()
        try await LookupWorld.withReplica(logger: lines.logger) { replica, source, _ in
            await LookupWorld.expect("one", of: replica)
            source.state.withLock { $0.fails = true }
            var looks = source.looks.stream.makeAsyncIterator()
            for _ in 1...5 { while await looks.next() == false {} }
            source.state.withLock { $0.fails = false }
            while await looks.next() == true {}
            // The end is logged after the successful reading, and thus before the next one.
            _ = await looks.next()
            let what = "lookups could not be confirmed; they are answered from memory"
            #expect(lines.all == ["warning \(what); trying again", "notice over: \(what)"])
        }
    }

    @Test(arguments: ["two", nil])
    func `announcements take effect while everything is being read, and older results do not overwrite them`(
        _ newer: String?
    ) async throws {
        let gate = LookupWorld.Gate()
        try await LookupWorld.withReplica(LookupWorld.FakeSource(pages: gate)) { replica, source, _ in
            var arrivals = gate.arrivals.stream.makeAsyncIterator()
            await arrivals.next()
            gate.passes.continuation.yield()
            await LookupWorld.expect("one", of: replica)
            source.stream.continuation.yield(.listening)
            // A page that contains "one" was read and waits at the gate. Meanwhile the event changes.
            await arrivals.next()
            source.put(newer)
            await LookupWorld.expect(newer, of: replica)
            gate.passes.continuation.yield()
            while replica.state.withLock(\.backlog.isReading) { await Task.yield() }
            let isAside = replica.state.withLock { $0.readMeanwhile != nil }
            #expect(!isAside)
            #expect(LookupWorld.channelIDKnown(replica) == newer)
        }
    }

    @Test func `an event that was read again without a change is stored once`() async throws {
        let gate = LookupWorld.Gate()
        try await LookupWorld.withReplica(LookupWorld.FakeSource(pages: gate)) { replica, source, _ in
            func storage() -> UnsafeRawPointer? {
                let records = replica.state.withLock { $0.records[LookupWorld.key("derby")] }
                return records?.withUnsafeBytes { $0.baseAddress }
            }
            gate.passes.continuation.yield()
            await LookupWorld.expect("one", of: replica)
            let before = storage()
            source.stream.continuation.yield(.listening)
            var arrivals = gate.arrivals.stream.makeAsyncIterator()
            for _ in 1...2 { await arrivals.next() }
            gate.passes.continuation.yield()
            while replica.state.withLock(\.backlog.isReading) { await Task.yield() }
            #expect(before != nil)
            #expect(storage() == before)
        }
    }

    @Test func `apps and environments of one event are kept apart`() {
        let (one, other) = ("com.example.goal", "com.example.other")
        let all: [(topic: String, environment: APNsEnvironment, channelID: String?)] = [
            (one, .production, "a"), (one, .development, "b"), (other, .production, "c"),
        ]
        let records = all.map {
            LookupRecord(
                topic: $0.topic, environment: $0.environment, storagePolicy: .noMessageStored, channelID: $0.channelID)
        }
        for (topic, environment, channelID) in all + [(other, .development, nil)] {
            let answer = records.answer(
                topic: topic, in: environment, nil, of: LookupWorld.key("derby"), now: LoopSample.now)
            #expect(LookupWorld.channelID(answer) == channelID)
        }
    }

    @Test
    func
        `while the database is down known events are answered with their age for a limited time, and unknown ones are not`()
        async throws
    {
        try await LookupWorld.withReplica { replica, source, clock in
            await LookupWorld.expect("one", of: replica)
            source.state.withLock { $0.fails = true }
            var looks = source.looks.stream.makeAsyncIterator()
            while await looks.next() == false {}
            let last = replica.state.withLock { $0.confirmedAt }
            let confirmedAt = try #require(last)
            clock.advance(by: 30 - clock.now.timeIntervalSince(confirmedAt))
            #expect(LookupWorld.known(replica)?.freshness == .stale(seconds: 30))
            let unknown = await #expect(throws: Problem.self) {
                try await LookupWorld.ask(replica, "cup")
            }
            #expect(unknown?.kind == .storeUnavailable)
            #expect(source.state.withLock { $0.reads } == 0)
            clock.advance(by: 571)
            #expect(LookupWorld.known(replica) == nil)
        }
    }

    @Test func `before the first reading a limited number of lookups go to the database, and the others must retry`()
        async throws
    {
        let source = LookupWorld.FakeSource()
        let clock = LookupWorld.Clock()
        let replica = LookupReplica(source: source, now: { clock.now }, logger: LoopSample.logger)
        for number in 1...100 {
            _ = try await LookupWorld.ask(replica, "event-\(number)")
        }
        let refusal = await #expect(throws: Problem.self) {
            try await LookupWorld.ask(replica, "event-101")
        }
        #expect(refusal?.kind == .storeUnavailable)
        #expect(refusal?.retryAfter == 1)
        #expect(source.state.withLock { $0.reads } == 100)
    }
}

/// Changes by this process.
@Suite(.timeLimit(.minutes(20)))
struct LocalChangeTests {
    @Test
    func
        `after a change by this process no older answer is given, and callers wait until the change is read`()
        async throws
    {
        try await LookupWorld.withReplica { replica, source, _ in
            await LookupWorld.expect("one", of: replica)
            let valve = Valve()
            source.state.withLock { $0.reading = valve }
            source.change(to: "two")
            replica.changed([.event(LookupWorld.key("derby"))])
            #expect(LookupWorld.known(replica) == nil)
            async let answer = LookupWorld.ask(replica)
            while replica.state.withLock(\.waiting.isEmpty) { await Task.yield() }
            valve.open()
            let told = try await answer
            #expect(LookupWorld.channelID(told.answer) == "two")
            #expect(LookupWorld.channelIDKnown(replica) == "two")
        }
    }

    @Test func `what the database reported about a new event is forgotten with the event's next change`() async throws {
        let source = LookupWorld.FakeSource()
        let clock = LookupWorld.Clock()
        let replica = LookupReplica(source: source, now: { clock.now }, logger: LoopSample.logger)
        source.change(to: "one")
        let first = try await LookupWorld.ask(replica)
        #expect(LookupWorld.channelID(first.answer) == "one")
        // No loop of the replica runs here, so only this call can remove the answer that the database gave.
        replica.changed([.event(LookupWorld.key("derby"))])
        let isEmpty = replica.state.withLock { $0.told.isEmpty }
        #expect(isEmpty)
    }

    @Test func `if the database cannot be read since a change, the older answer is marked as stale`() async throws {
        var settings = LookupReplica.Settings()
        settings.interval = .milliseconds(10)
        settings.patience = .milliseconds(1)
        try await LookupWorld.withReplica(settings: settings) { replica, source, _ in
            await LookupWorld.expect("one", of: replica)
            source.state.withLock { $0.fails = true }
            replica.changed([.event(LookupWorld.key("derby")), .event(LookupWorld.key("cup"))])
            let old = try await LookupWorld.ask(replica)
            #expect(LookupWorld.channelID(old.answer) == "one")
            #expect(old.freshness != .confirmed)
            let refusal = await #expect(throws: Problem.self) {
                try await LookupWorld.ask(replica, "cup")
            }
            #expect(refusal?.kind == .storeUnavailable)
        }
    }

    @Test func `a lookup waits for earlier changes, not for later ones`() async throws {
        try await LookupWorld.withReplica { replica, source, _ in
            await LookupWorld.expect("one", of: replica)
            let (first, second) = (Valve(), Valve())
            source.state.withLock { $0.reading = first }
            source.change(to: "two")
            replica.changed([.event(LookupWorld.key("derby"))])
            async let isRead = replica.isRead(LookupWorld.key("derby"))
            while replica.state.withLock(\.waiting.isEmpty) { await Task.yield() }
            await first.hold(1)
            source.state.withLock { $0.reading = second }
            // The event changes again while it is being read.
            replica.changed([.event(LookupWorld.key("derby"))])
            first.open()
            let wasRead = await isRead
            #expect(wasRead)
            #expect(LookupWorld.known(replica) == nil)
            second.open()
            await LookupWorld.expect("two", of: replica)
        }
    }

    @Test func `a lookup waits at most the configured patience for an event that cannot be read`() async throws {
        var settings = LookupReplica.Settings()
        settings.patience = .milliseconds(1)
        try await LookupWorld.withReplica(settings: settings) { replica, source, _ in
            await LookupWorld.expect("one", of: replica)
            let valve = Valve()
            source.state.withLock { $0.reading = valve }
            replica.changed([.event(LookupWorld.key("derby"))])
            #expect(await replica.isRead(LookupWorld.key("derby")) == false)
            #expect(await replica.isRead(LookupWorld.key("cup")))
            #expect(LookupWorld.known(replica) == nil)
            valve.open()
            await LookupWorld.expect("one", of: replica)
            #expect(await replica.isRead(nil))
        }
    }
}

/// Cached bodies of lists. They are valid until something in them changes.
struct LookupListsTests {
    private static let now = Date(timeIntervalSince1970: 1_700_000_000)
    private static let app = LookupLists.App(topic: "com.example.goal", environment: .production)

    private static func record(_ channelID: String, topic: String, startsAt: Date? = nil) throws -> LookupRecord {
        LookupRecord(
            topic: app.topic, environment: app.environment, storagePolicy: .noMessageStored, channelID: channelID,
            startsAt: startsAt, listing: EventListing(name: "Match", topics: [try #require(Topic(rawValue: topic))]))
    }

    private static func key(_ text: String) throws -> EventKey { try #require(EventKey(rawValue: text)) }

    private static func text(_ body: LookupBody?) -> String? { body.map { String(decoding: $0.bytes, as: UTF8.self) } }

    @Test func `a body is reused until something in it has changed`() throws {
        let lists = LookupLists()
        lists.put(try Self.key("derby"), [try Self.record("one", topic: "team:a")])
        let query = LookupListQuery(topic: Topic(rawValue: "team:a"))
        #expect(lists.known("a", lastOwnChange: 0, now: Self.now) == nil)
        let body = lists.body("a", Self.app, query, lastOwnChange: 0, now: Self.now)
        #expect(
            Self.text(body)
                == #"{"items":[{"eventKey":"derby","channelId":"one","storagePolicy":"noMessageStored","state":"scheduled","#
                + #""startsAt":null,"endsAt":null,"name":"Match","kind":null,"topics":["team:a"]}],"nextCursor":null}"#)
        #expect(lists.known("a", lastOwnChange: 0, now: Self.now) == body)
        // A change in another topic or app does not affect the body. After a change by this process in the same topic
        // the body is made again.
        lists.put(try Self.key("final"), [try Self.record("two", topic: "team:b")])
        #expect(lists.known("a", lastOwnChange: 1, now: Self.now) == body)
        lists.put(try Self.key("derby"), [try Self.record("three", topic: "team:a")])
        #expect(lists.known("a", lastOwnChange: 1, now: Self.now) == nil)
        let newer = lists.body("a", Self.app, query, lastOwnChange: 1, now: Self.now)
        #expect(Self.text(newer)?.contains("three") == true)
        lists.put(try Self.key("derby"), [])
        let empty = lists.body("a", Self.app, query, lastOwnChange: 2, now: Self.now)
        #expect(Self.text(empty) == #"{"items":[],"nextCursor":null}"#)
    }

    @Test func `a change takes no longer if an app has many events`() throws {
        let shuffled = try (0..<20_000).map { try Self.key("match-\($0)") }
        func timeOfChanges(among count: Int) throws -> Duration {
            var indexes = LookupLists.indexes(
                of: Dictionary(
                    uniqueKeysWithValues: try shuffled.prefix(count).map {
                        ($0, [try Self.record("one", topic: "team:a")])
                    }))
            let changed = [try Self.record("two", topic: "team:a")]
            let before = [try Self.record("one", topic: "team:a")]
            return processorTime {
                for round in 0..<200 {
                    LookupLists.put(shuffled[0], round % 2 == 0 ? changed : before, into: &indexes)
                }
            }
        }
        // Copying 20,000 entries at each change would take a thousand times as long.
        #expect(try timeOfChanges(among: 20_000) < timeOfChanges(among: 10) * 100)
    }

    @Test func `a body also changes with the clock`() throws {
        let lists = LookupLists()
        lists.put(try Self.key("derby"), [try Self.record("one", topic: "team:a", startsAt: Self.now + 60)])
        let body = lists.body("a", Self.app, LookupListQuery(), lastOwnChange: 0, now: Self.now)
        #expect(lists.known("a", lastOwnChange: 0, now: Self.now + 59) == body)
        #expect(lists.known("a", lastOwnChange: 0, now: Self.now + 60) == nil)
        let live = lists.body("a", Self.app, LookupListQuery(), lastOwnChange: 0, now: Self.now + 60)
        #expect(Self.text(live)?.contains(#""state":"live""#) == true)
    }

    @Test func `after a reading of everything the result replaces everything that was known`() throws {
        let lists = LookupLists()
        lists.put(try Self.key("derby"), [try Self.record("one", topic: "team:a")])
        _ = lists.body("a", Self.app, LookupListQuery(), lastOwnChange: 0, now: Self.now)
        lists.replace(with: LookupLists.indexes(of: [try Self.key("final"): [try Self.record("two", topic: "team:a")]]))
        #expect(lists.known("a", lastOwnChange: 0, now: Self.now) == nil)
        let body = lists.body("a", Self.app, LookupListQuery(), lastOwnChange: 0, now: Self.now)
        #expect(Self.text(body)?.contains("derby") == false)
        #expect(Self.text(body)?.contains("final") == true)
    }
}
