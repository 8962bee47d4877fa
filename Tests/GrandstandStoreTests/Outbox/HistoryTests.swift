internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandStore
internal import GrandstandTestKit
internal import Testing

/// Old rows are deleted in steps.
@Suite(.timeLimit(.minutes(20)))
struct HistoryTests {
    @Test func `old settled broadcasts are removed, oldest first, but not waiting ones or an event's newest`()
        async throws
    {
        try await withDatabase { database in
            let stores = Stores(database)
            let history = PostgresHistory(database.database)
            try await stores.open()
            let scheduled = try await stores.accept(.update(sendAt: stores.now + 86_400)).id
            var ids: [UUID] = []
            for _ in 0..<4 {
                ids.append(try await stores.accept(.update()).id)
                try await stores.sendOne()
                stores.clock.advance(by: 10)
            }
            // This message is old but not sent yet, because its channel does not exist.
            try await stores.put(.sample("waiting"))
            let waiting = try await stores.accept(.update(), for: "waiting").id
            let cutoff = stores.now + 1

            #expect(try await history.prune(.broadcasts, before: stores.now - 100, limit: 10) == 0)
            #expect(try await history.prune(.broadcasts, before: cutoff, limit: 2) == 2)
            #expect(try await stores.outbox.broadcast(ids[0]) == nil)
            #expect(try await stores.outbox.broadcast(ids[1]) == nil)
            #expect(try await stores.outbox.broadcast(ids[2]) != nil)
            #expect(try await history.prune(.broadcasts, before: cutoff, limit: 10) == 1)
            #expect(try await history.prune(.broadcasts, before: cutoff, limit: 10) == 0)
            for id in [ids[3], waiting, scheduled] { #expect(try await stores.outbox.broadcast(id) != nil) }
            let lookup = try await stores.events.lookup(
                topic: "com.example.goal", in: .production, try .sample(), contentState: true, now: stores.now)
            #expect(lookup?.contentState != nil)
        }
    }
}
