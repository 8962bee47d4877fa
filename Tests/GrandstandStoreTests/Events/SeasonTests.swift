internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandTestKit
internal import Postgres
internal import Testing

@testable internal import GrandstandStore

/// What events of a season declare: when their channels open, and which defaults their messages get.
@Suite(.timeLimit(.minutes(2)))
struct SeasonTests {
    @Test func `when a fixture moves the opening of its channel moves, too`() async throws {
        try await withStores { stores in
            func at(_ hours: Double) -> Date { stores.now.addingTimeInterval(hours * 3_600) }
            let kickOff = at(30)
            let event = try await stores.put(.sample(startsAt: kickOff, channelsOpenBefore: 86_400))
            #expect(event.specification.channelsOpenBefore == 86_400 && event.specification.channelsOpenAt == nil)
            #expect(event.channels.map(\.state) == [.waiting])
            #expect(event.channels.map(\.nextAttemptAt) == [at(6)])
            #expect(try await stores.channels.nextDue(now: stores.now) == at(6))
            let moved = try await stores.put(.sample(startsAt: at(40), channelsOpenBefore: 86_400))
            #expect(moved.channels.map(\.nextAttemptAt) == [at(16)])
            let opening = at(16)
            stores.clock.advance(by: 16 * 3_600 - 1)
            try await stores.provision()
            #expect(try await stores.events.event(.sample(), now: stores.now)?.channels.map(\.state) == [.waiting])
            stores.clock.advance(by: 1)
            #expect(stores.now == opening)
            try await stores.provision()
            #expect(try await stores.channel().state == .active)
        }
    }

    private func overdue(_ stores: Stores) async throws -> Set<String> {
        let filter = EventFilter(overdueBy: Stores.tenure)
        return Set(
            try await stores.events.events(where: filter, PageRequest(), now: stores.now).items.map {
                $0.specification.key.rawValue
            })
    }

    @Test func `events that hold a channel too long are overdue`() async throws {
        try await withStores { stores in
            func at(_ hours: Double) -> Date { stores.now.addingTimeInterval(hours * 3_600) }
            try await stores.put(.sample("late", endsAt: at(2)))
            try await stores.put(.sample("ended", endsAt: at(2)))
            try await stores.put(.sample("without", endsAt: at(2), channelsOpenAt: at(200)))
            try await stores.put(.sample("goes-on", endsAt: at(20)))
            try await stores.put(.sample("no-end"))
            try await stores.put(.sample("cancelled", endsAt: at(50)))
            try await stores.provision()
            try await stores.accept(.end(), for: "ended")
            try await stores.sendOne()
            try await stores.events.cancel(.sample("cancelled"), now: stores.now)
            try await stores.align()
            #expect(try await overdue(stores).isEmpty)
            stores.clock.advance(by: 2 * 3_600)
            #expect(try await overdue(stores) == ["late"])
            // The deletion of the channels of `ended` and `cancelled` is due, but not carried out yet.
            stores.clock.advance(by: 6 * 3_600)
            #expect(try await overdue(stores) == ["late", "ended", "cancelled"])
            while try await !stores.provision().isEmpty {}
            #expect(try await overdue(stores) == ["late"])
            stores.clock.advance(by: 40 * 3_600 - 1)
            #expect(try await overdue(stores) == ["late", "goes-on"])
            stores.clock.advance(by: 1)
            #expect(try await overdue(stores) == ["late", "goes-on", "no-end"])
            while try await !stores.provision().isEmpty {}
            #expect(try await overdue(stores).isEmpty)
        }
    }

    private let defaults = EventDefaults(
        priority: .immediate, staleAfter: 300, expiresIn: 60, relevanceScore: Array("7.5".utf8))

    @Test func `messages get their event's defaults, directly or by a claim, unless they have their own values`()
        async throws
    {
        try await withStores { stores in
            try await stores.put(.sample(defaults: defaults))
            #expect(try await stores.events.event(.sample(), now: stores.now)?.specification.defaults == defaults)
            try await stores.provision()
            let stale = Int(stores.now.timeIntervalSince1970) + 300
            try await stores.accept(.update())
            let first = try await stores.sendOne()
            #expect(first.text.contains(#""stale-date":\#(stale)"#) && first.text.contains(#""relevance-score":7.5"#))
            #expect(first.message.priority == .immediate)
            #expect(first.expiresAt == stores.now.addingTimeInterval(60))
            var own = BroadcastRequest.update(priority: .powerAware, expiresIn: 10)
            own.payload.staleDate = 5
            try await stores.accept(own)
            let second = try await stores.sendOne()
            #expect(second.text.contains(#""stale-date":5"#) && second.message.priority == .powerAware)
            #expect(second.expiresAt == stores.now.addingTimeInterval(10))
            // Another event, without defaults.
            try await stores.open("plain")
            try await stores.accept(.update(), for: "plain")
            #expect(try await !stores.sendOne().text.contains("stale-date"))
        }
    }

    @Test func `a message sent with its acceptance has the defaults, too`() async throws {
        try await withDatabase { database in
            let stores = Stores(database)
            try await stores.put(.sample(defaults: defaults))
            try await stores.provision()
            let directSends = ManualDirectSends(places: 10, clock: stores.clock, laneInterval: 0)
            let outbox = PostgresOutbox(database.database, directSends: directSends)
            _ = try await outbox.accept(
                [BroadcastIntake(eventKey: .sample(), request: .update())], now: stores.now, plan: Stores.plan)
            let sent = try #require(directSends.take().first)
            #expect(sent.text.contains(#""stale-date":\#(Int(stores.now.timeIntervalSince1970) + 300)"#))
        }
    }

    @Test func `a scheduled message gets the defaults of its time`() async throws {
        try await withStores { stores in
            try await stores.put(.sample(defaults: defaults))
            try await stores.provision()
            try await stores.accept(.update(sendAt: stores.now.addingTimeInterval(3_600)))
            try await stores.put(.sample(defaults: EventDefaults(staleAfter: 100)))
            stores.clock.advance(by: 3_600)
            _ = try await stores.outbox.promote(now: stores.now, limit: 10, plan: Stores.plan)
            let sent = try await stores.sendOne()
            #expect(sent.text.contains(#""stale-date":\#(Int(stores.now.timeIntervalSince1970) + 100)"#))
            #expect(!sent.text.contains("relevance-score") && sent.message.priority == .powerAware)
        }
    }
}
