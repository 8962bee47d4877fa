internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import Synchronization
internal import Testing

@testable internal import GrandstandService

@Suite(.timeLimit(.minutes(20)))
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

    @Test func `apps and environments of one event are kept apart`() {
        func record(_ topic: String, _ environment: APNsEnvironment, _ channelID: String?) -> LookupRecord {
            LookupRecord(topic: topic, environment: environment, storagePolicy: .noMessageStored, channelID: channelID)
        }
        let records = [
            record("com.example.goal", .production, nil), record("com.example.goal", .development, "two"),
            record("com.example.other", .production, "three"),
        ]
        func answer(_ topic: String, _ environment: APNsEnvironment) -> LookupAnswer? {
            records.answer(topic: topic, in: environment, nil, of: LookupWorld.key("derby"), now: Sample.now)
        }
        #expect(answer("com.example.goal", .production) == .pending(ChannelWait()))
        #expect(LookupWorld.channelID(answer("com.example.goal", .development)) == "two")
        #expect(LookupWorld.channelID(answer("com.example.other", .production)) == "three")
        #expect(answer("com.example.other", .development) == nil)
        #expect(answer("com.example.none", .production) == nil)
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
        let replica = LookupReplica(source: source, now: { clock.now }, logger: Sample.logger)
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
        let replica = LookupReplica(source: source, now: { clock.now }, logger: Sample.logger)
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
