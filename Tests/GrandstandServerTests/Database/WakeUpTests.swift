internal import FoundationEssentials
internal import Grandstand
internal import GrandstandTestKit
internal import Postgres
internal import Testing

@testable internal import GrandstandServer

@Suite(.timeLimit(.minutes(20)))
struct WakeUpTests {
    @Test func `settling the last message of an event wakes the channels' loop, because its channel may retire`()
        async throws
    {
        try await withStores { stores in
            let signals = WakeUps(Database(stores.pool))
            var outbox = signals.wakes(.productionLanes).makeAsyncIterator()
            var channels = signals.wakes(.channels).makeAsyncIterator()
            let listener = Task { await signals.run() }
            defer { listener.cancel() }
            // From the first wake-up on, the signals listen to PostgreSQL.
            await outbox.next()
            await channels.next()
            try await stores.put(.sample())
            await channels.next()
            try await stores.provision()
            await channels.next()
            // The new channel wakes the outbox, too. The next wake-up is the acceptance's.
            await outbox.next()
            try await stores.accept(.end())
            await outbox.next()
            await channels.next()
            let claimed = try await stores.claim()
            try await stores.outbox.tryRecord(claimed.map { $0.settled(nil, at: stores.now) })
            await outbox.next()
            try await stores.sendOne()
            await channels.next()
        }
    }

    @Test func `acceptances, and settlements that leave work, wake the dispatcher of their process without NOTIFY`()
        async throws
    {
        try await withEvent { stores in
            // Nobody runs these signals, so they hear nothing from PostgreSQL.
            let signals = WakeUps(Database(stores.pool))
            let outbox = Outbox(Database(stores.pool), wakeUps: signals)
            var wakes = signals.wakes(.productionLanes).makeAsyncIterator()
            func accept() async throws {
                _ = try await outbox.accept(
                    [Intake(eventKey: try .sample("match-1"), request: .update(), at: stores.now)])
            }
            try await accept()
            await wakes.next()
            let sent = try #require(try await stores.claim().first)
            try await accept()
            await wakes.next()
            #expect(try await outbox.settle(sent.settled(.ok, at: stores.now)))
            await wakes.next()
        }
    }
}
