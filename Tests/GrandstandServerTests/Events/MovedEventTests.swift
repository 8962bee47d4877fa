internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import GrandstandTestKit
internal import JSON
internal import Testing

@testable internal import GrandstandServer

/// Events that move or lose audiences: the messages that change with them, and the warnings for organisers.
@Suite(.timeLimit(.minutes(20)))
struct MovedEventTests {
    private func put(
        _ stores: StoreWorld, startsAt: TimeInterval?, endsAt: TimeInterval? = nil, audiences: [Audience]? = nil
    ) async throws -> Contract.Event {
        try await stores.put(
            .sample(
                startsAt: startsAt.map(stores.now.addingTimeInterval),
                endsAt: endsAt.map(stores.now.addingTimeInterval), audiences: audiences))
    }

    private func state(_ stores: StoreWorld) async throws -> [Contract.EventState?] {
        let event = try await stores.event()
        #expect(try await stores.listed(EventFilter(state: .live)) == (event?.state == .live ? ["match-1"] : []))
        return [event?.state, try await stores.lookup()?.state]
    }

    @Test
    func `a match postponed without a date opens no channel and sends no relative message until it has one`()
        async throws
    {
        try await withStores { stores in
            try await stores.put(.sample(startsAt: stores.now + 108_000, channelsOpenBefore: 3_600))
            var relative = Contract.BroadcastDraft.update()
            relative.sendAt = .afterStart(.init(afterStart: -600))
            let accepted = try await stores.accept(relative)
            #expect(try await stores.read(accepted)?.withoutMessage == accepted)
            try await stores.put(.sample(channelsOpenBefore: 3_600))
            #expect(try await stores.read(accepted)?.sendAt == nil)
            stores.clock.advance(by: 259_200)
            try await stores.provision()
            #expect(try await stores.promote() == 0)
            let event = try #require(try await stores.event())
            #expect(event.state == .scheduled && event.channels.map(\.state) == [.waiting])
            let startsAt = stores.now + 7_200
            let moved = try await stores.put(.sample(startsAt: startsAt, channelsOpenBefore: 3_600))
            #expect(moved.channelsOpenBefore == 3_600 && moved.channelsOpenAt == nil)
            #expect(moved.channels.map(\.nextAttemptAt) == [startsAt - 3_600])
            #expect(try await stores.read(accepted)?.sendAt == startsAt - 600)
            #expect(try await stores.outbox.nextScheduled() == startsAt - 600)
            stores.clock.advance(by: 3_599)
            try await stores.provision()
            #expect(try await stores.event()?.channels.map(\.state) == [.waiting])
            stores.clock.advance(by: 1)
            try await stores.provision()
            #expect(try await stores.channel().state == .active)
            stores.clock.advance(by: 2_999)
            #expect(try await stores.promote() == 0)
            stores.clock.advance(by: 1)
            #expect(try await stores.promote() == 1)
            try await stores.sendOne()
        }
    }

    @Test func `an event that moves warns of messages that do not, and a fraction of a second is no move`() async throws
    {
        try await withStores { stores in
            for (key, text) in [("a", "2026-11-21T20:45:00.1Z"), ("b", "2026-11-21T20:45:00.123456789Z")] {
                let startsAt: Date = try #require(RFC3339.date(text))
                var draft = try Contract.EventDraft.sample(startsAt: startsAt)
                try await stores.put(draft, as: key)
                try await stores.accept(.update(sendAt: stores.now + 60), for: key)
                #expect(try await stores.put(draft, as: key).warnings == [])
                draft.startsAt = startsAt + 60
                let warnings = try await stores.put(draft, as: key).warnings
                #expect(warnings?.count == 1 && warnings?.first?.contains("1 scheduled messages") == true)
            }
        }
    }

    @Test func `a match postponed after its first update is scheduled until it begins again`() async throws {
        try await withStores { stores in
            _ = try await put(stores, startsAt: -60)
            try await stores.provision()
            try await stores.accept(.update(#"{"n":1}"#))
            try await stores.sendOne()
            #expect(try await state(stores) == [.live, .live])
            stores.clock.advance(by: 600)
            #expect(try await put(stores, startsAt: 86_400).state == .scheduled)
            #expect(try await state(stores) == [.scheduled, .scheduled])
            // The next update makes the event live again. If the update is withdrawn, the event is scheduled again.
            let update = try await stores.accept(.update(#"{"n":2}"#))
            #expect(try await state(stores) == [.live, .live])
            #expect(try await stores.withdraw(update) == true)
            #expect(try await state(stores) == [.scheduled, .scheduled])
            stores.clock.advance(by: 86_400)
            #expect(try await state(stores) == [.live, .live])
        }
    }

    @Test func `removing an audience that may have followers warns, unless it had an end`()
        async throws
    {
        try await withStores { stores in
            let audiences = try ["de", "en", "fr"].map { try Audience.sample(variant: $0) }
            // Nobody can follow a channel that was not created yet.
            for count in [3, 2, 3] {
                let first = Array(audiences.prefix(count))
                #expect(try await put(stores, startsAt: nil, audiences: first).warnings == [])
            }
            try await stores.provision()
            try await stores.accept(.end(audiences: [audiences[2].id]))
            let warnings = try #require(try await put(stores, startsAt: nil, audiences: [audiences[0]]).warnings)
            #expect(warnings.count == 1 && warnings[0].contains("com.example.Goal in production for variant en"))
        }
    }

    @Test func `a message whose channel has no place in the quota has a warning`() async throws {
        try await withStores { stores in
            _ = try await stores.apps.put(.sample(channelLimit: 1))
            try await stores.open("first")
            try await stores.open()
            let waiting = try await stores.accept(.update())
            #expect(waiting.warnings.count == 1 && waiting.warnings[0].contains("There is no place for the channel of"))
            #expect(try await stores.read(waiting)?.warnings == waiting.warnings)
            #expect(try await stores.accept(.update(), for: "first").warnings.isEmpty)
            // A channel that is not created yet does not mean that there is no place for it.
            _ = try await stores.apps.put(.sample(channelLimit: 2))
            try await stores.align()
            #expect(try await stores.accept(.update()).warnings.isEmpty)
        }
    }
}

/// What events of a season declare: when their channels open, and which defaults their messages get.
@Suite(.timeLimit(.minutes(20)))
struct SeasonTests {
    private func overdue(_ stores: StoreWorld) async throws -> Set<String> {
        Set(try await stores.listed(EventFilter(overdueBy: StoreWorld.tenure)))
    }

    @Test func `events that hold a channel too long are overdue`() async throws {
        try await withStores { stores in
            func at(_ hours: Double) -> Date { stores.now + hours * 3_600 }
            try await stores.put(.sample(endsAt: at(2)), as: "late")
            try await stores.put(.sample(endsAt: at(2)), as: "ended")
            try await stores.put(.sample(endsAt: at(2), channelsOpenAt: at(200)), as: "without")
            try await stores.put(.sample(endsAt: at(20)), as: "goes-on")
            try await stores.put(.sample(), as: "no-end")
            try await stores.put(.sample(endsAt: at(50)), as: "cancelled")
            try await stores.provision()
            try await stores.accept(.end(), for: "ended")
            try await stores.sendOne()
            try await stores.cancel("cancelled")
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

    @Test func `a scheduled message gets the defaults of its time`() async throws {
        try await withStores { stores in
            let early = Contract.EventDefaults(
                priority: 10, staleAfter: 300, expiresIn: 60, relevanceScore: RawJSON(unchecked: "7.5".utf8))
            try await stores.put(.sample(defaults: early))
            try await stores.provision()
            try await stores.accept(.update(expiresIn: 10, sendAt: stores.now + 3_600))
            try await stores.put(.sample(defaults: Contract.EventDefaults(staleAfter: 100, expiresIn: 60)))
            stores.clock.advance(by: 3_600)
            try await stores.promote()
            let sent = try await stores.sendOne()
            #expect(sent.text.contains(#""stale-date":\#(Int(stores.now.timeIntervalSince1970) + 100)"#))
            #expect(!sent.text.contains("relevance-score") && sent.message.priority == .powerAware)
            #expect(sent.message.expiresAt == stores.now + 10)
        }
    }
}
