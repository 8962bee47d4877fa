internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandTestKit
internal import Logging
internal import PortFakes
internal import Synchronization
internal import Testing

@testable internal import GrandstandService

@Suite(.timeLimit(.minutes(1)))
struct LookupReplicaTests {
    @Test func `at first everything is read, and then each announcement replaces or removes one event`() async throws {
        try await LookupWorld.withReplica { replica, source, _ in
            await LookupWorld.expect("one", of: replica)
            source.put("two")
            await LookupWorld.expect("two", of: replica)
            source.put(nil)
            await LookupWorld.expect(nil, of: replica)
        }
    }

    @Test func `a change without an announcement is found in the journal`() async throws {
        try await LookupWorld.withReplica { replica, source, _ in
            await LookupWorld.expect("one", of: replica)
            source.put("two", announced: false)
            await LookupWorld.expect("two", of: replica)
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

    @Test func `apps and environments of one event are kept apart`() throws {
        let source = LookupWorld.FakeSource()
        let now = Date(timeIntervalSince1970: 1_700_000_000)
        let replica = LookupReplica(
            source: source, now: { now },
            logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }))
        func record(_ topic: String, _ environment: APNsEnvironment, _ channelID: String?) -> LookupRecord {
            LookupRecord(topic: topic, environment: environment, storagePolicy: .noMessageStored, channelID: channelID)
        }
        replica.state.withLock { state in
            state.confirmedAt = now
            state.records[LookupWorld.key("derby")] = [
                record("com.example.goal", .production, nil), record("com.example.goal", .development, "two"),
                record("com.example.other", .production, "three"),
            ]
        }
        func known(
            _ topic: String, _ environment: APNsEnvironment, _ key: String = "derby"
        ) -> LookupAnswer? { replica.known(topic: topic, in: environment, LookupWorld.key(key))?.answer }
        #expect(known("com.example.goal", .production) == .pending(ChannelWait()))
        #expect(LookupWorld.channelID(known("com.example.goal", .development)) == "two")
        #expect(LookupWorld.channelID(known("com.example.other", .production)) == "three")
        #expect(known("com.example.other", .development) == nil)
        #expect(known("com.example.none", .production) == nil)
        #expect(known("com.example.goal", .production, "cup") == nil)
    }

    @Test func `after listening starts again everything is read, because announcements may have been missed`()
        async throws
    {
        try await LookupWorld.withReplica { replica, source, _ in
            await LookupWorld.expect("one", of: replica)
            source.state.withLock { $0.channelIDs[LookupWorld.key("derby")] = "two" }
            source.stream.continuation.yield(.listening)
            await LookupWorld.expect("two", of: replica)
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
                try await replica.answer(topic: LookupWorld.topic, in: .production, LookupWorld.key("cup"))
            }
            #expect(unknown?.kind == .storeUnavailable)
            #expect(source.state.withLock { $0.reads } == 0)
            clock.advance(by: 571)
            #expect(LookupWorld.known(replica) == nil)
        }
    }

    @Test func `the log says once that the cached lookups cannot be confirmed, and once that they can again`()
        async throws
    {
        let lines = LogLines()
        let source = LookupWorld.FakeSource()
        try await LookupWorld.withReplica(source, logger: lines.logger) { replica, source, _ in
            await LookupWorld.expect("one", of: replica)
            source.state.withLock { $0.fails = true }
            var looks = source.looks.stream.makeAsyncIterator()
            for _ in 1...5 { while await looks.next() == false {} }
            source.state.withLock { $0.fails = false }
            while await looks.next() == true {}
            // The end of the outage is logged after the successful reading, and thus before the next reading.
            _ = await looks.next()
            #expect(
                lines.all == [
                    "warning lookups could not be confirmed; they are answered from memory; trying again",
                    "notice over: lookups could not be confirmed; they are answered from memory",
                ])
        }
    }

    @Test func `an unknown event is read from the database at most once a second`() async throws {
        try await LookupWorld.withReplica { replica, source, _ in
            await LookupWorld.expect("one", of: replica)
            for _ in 1...50 {
                let miss = try await replica.answer(topic: LookupWorld.topic, in: .production, LookupWorld.key("cup"))
                #expect(miss.answer == nil)
            }
            #expect(source.state.withLock { $0.reads } == 1)
        }
    }

    @Test func `before the first reading a limited number of lookups go to the database, and the others must retry`()
        async throws
    {
        let source = LookupWorld.FakeSource()
        let clock = LookupWorld.Clock()
        let replica = LookupReplica(
            source: source, now: { clock.now },
            logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }))
        for number in 1...100 {
            _ = try await replica.answer(topic: LookupWorld.topic, in: .production, LookupWorld.key("event-\(number)"))
        }
        let refusal = await #expect(throws: Problem.self) {
            try await replica.answer(topic: LookupWorld.topic, in: .production, LookupWorld.key("event-101"))
        }
        #expect(refusal?.kind == .storeUnavailable)
        #expect(refusal?.retryAfter == 1)
        #expect(source.state.withLock { $0.reads } == 100)
    }
}
