internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import Logging
internal import PortFakes
internal import Synchronization
internal import Testing

@testable internal import GrandstandService

/// Changes by this process.
@Suite(.timeLimit(.minutes(1)))
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
            async let answer = replica.answer(topic: LookupWorld.topic, in: .production, LookupWorld.key("derby"))
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
        let replica = LookupReplica(
            source: source, now: { clock.now },
            logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }))
        source.change(to: "one")
        let first = try await replica.answer(topic: LookupWorld.topic, in: .production, LookupWorld.key("derby"))
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
            let old = try await replica.answer(topic: LookupWorld.topic, in: .production, LookupWorld.key("derby"))
            #expect(LookupWorld.channelID(old.answer) == "one")
            #expect(old.freshness != .confirmed)
            let refusal = await #expect(throws: Problem.self) {
                try await replica.answer(topic: LookupWorld.topic, in: .production, LookupWorld.key("cup"))
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
