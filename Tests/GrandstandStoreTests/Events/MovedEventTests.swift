internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandTestKit
internal import JSON
internal import Testing

@testable internal import GrandstandStore

/// Events that move or lose audiences: the messages that change with them, and the warnings for organisers.
@Suite(.timeLimit(.minutes(3)))
struct MovedEventTests {
    private func put(
        _ stores: Stores, startsAt: TimeInterval?, endsAt: TimeInterval? = nil, audiences: [Audience]? = nil
    ) async throws -> Event {
        try await stores.put(
            .sample(
                startsAt: startsAt.map(stores.now.addingTimeInterval),
                endsAt: endsAt.map(stores.now.addingTimeInterval), audiences: audiences))
    }

    private func relative(_ seconds: Int, _ contentState: String = #"{"n":1}"#) -> BroadcastRequest {
        var request = BroadcastRequest.update(contentState)
        request.sendAfterStart = seconds
        return request
    }

    private func state(_ stores: Stores) async throws -> [Event.State?] {
        let key = try EventKey.sample()
        let lookup = try await stores.events.lookup(
            topic: "com.example.goal", in: .production, key, contentState: false, now: stores.now)
        let listed = try await stores.events.events(
            where: EventFilter(state: .live, within: .all), PageRequest(), now: stores.now
        ).items
        let event = try await stores.events.event(key, now: stores.now)
        #expect(listed.map(\.specification.key) == (event?.state == .live ? [key] : []))
        return [event?.state, lookup?.state]
    }

    @Test func `a message relative to the start moves with its event and is sent at its new time`() async throws {
        try await withStores { stores in
            _ = try await put(stores, startsAt: 3_600)
            try await stores.provision()
            let accepted = try await stores.accept(relative(-600))
            #expect(accepted.isScheduled && accepted.warnings.isEmpty)
            #expect(accepted.sendAt == stores.now.addingTimeInterval(3_000))
            #expect(try await stores.outbox.broadcast(accepted.id)?.withoutMessage == accepted)

            #expect(try await put(stores, startsAt: 7_200).warnings == [])
            let moved = try #require(try await stores.outbox.broadcast(accepted.id))
            #expect(moved.sendAt == stores.now.addingTimeInterval(6_600))
            #expect(moved.sendAfterStart == -600)
            #expect(try await stores.outbox.nextScheduled() == moved.sendAt)
            stores.clock.advance(by: 6_599)
            #expect(try await stores.outbox.promote(now: stores.now, limit: 10, plan: Stores.plan) == 0)
            stores.clock.advance(by: 1)
            #expect(try await stores.outbox.promote(now: stores.now, limit: 10, plan: Stores.plan) == 1)
            try await stores.sendOne()
            // A message that was sent keeps its time.
            #expect(try await put(stores, startsAt: 9_999).warnings == [])
            #expect(try await stores.outbox.broadcast(accepted.id)?.sendAt == moved.sendAt)
        }
    }

    @Test func `a message with a fixed time stays, and the organiser is warned once`() async throws {
        try await withStores { stores in
            _ = try await put(stores, startsAt: 3_600, endsAt: 9_000)
            let at = stores.now.addingTimeInterval(3_000)
            let own = try await stores.accept(.update(sendAt: at))
            try await stores.accept(relative(600))
            let warnings = try #require(try await put(stores, startsAt: 7_200, endsAt: 9_000).warnings)
            #expect(warnings.count == 1)
            #expect(warnings.first?.contains("a sendAt of their own: 1, the first at") == true)
            #expect(warnings.first?.contains(RFC3339.text(at)) == true)
            #expect(try await stores.outbox.broadcast(own.id)?.sendAt == at)
            #expect(try await put(stores, startsAt: 7_200, endsAt: 9_000).warnings == [])
            // The message with a relative time would now be sent after the new end.
            #expect(try await put(stores, startsAt: 7_200, endsAt: 7_300).warnings?.count == 1)
            #expect(try await put(stores, startsAt: nil, endsAt: 9_000).warnings?.count == 2)
        }
    }

    @Test
    func `without a known start a relative message is refused, and a preview shows its time`()
        async throws
    {
        try await withStores { stores in
            _ = try await put(stores, startsAt: nil)
            #expect(try await problem { try await stores.accept(relative(-600)) } == .invalidRequest)
            _ = try await put(stores, startsAt: 60, endsAt: 120)
            let results = try await stores.accept([relative(-61), relative(-600), relative(61)])
            let warnings = try results.map { try $0.get().warnings }
            #expect(warnings.map(\.count) == [1, 1, 1])
            #expect(warnings[0][0].contains("in the past") && warnings[2][0].contains("after endsAt"))
            let rehearsal = try await stores.outbox.rehearse(
                BroadcastIntake(eventKey: .sample(), request: relative(30), by: .server), now: stores.now,
                plan: Stores.plan)
            #expect(rehearsal.goesAt == stores.now.addingTimeInterval(90) && rehearsal.isScheduled)
            let late = try await stores.outbox.rehearse(
                BroadcastIntake(eventKey: .sample(), request: relative(90), by: .server), now: stores.now,
                plan: Stores.plan)
            #expect(late.warnings.count == 1)
        }
    }

    @Test func `an event declared again with a fraction of a second has not moved`() async throws {
        try await withStores { stores in
            for (key, text) in [("a", "2026-11-21T20:45:00.1Z"), ("b", "2026-11-21T20:45:00.123456789Z")] {
                let startsAt: Date = try #require(RFC3339.date(text))
                let specification = try EventSpecification.sample(key, startsAt: startsAt)
                try await stores.put(specification)
                try await stores.accept(.update(sendAt: stores.now.addingTimeInterval(60)), for: key)
                #expect(try await stores.put(specification).warnings == [])
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
            // The same declaration a second time leaves it scheduled.
            _ = try await put(stores, startsAt: 86_400)
            #expect(try await state(stores) == [.scheduled, .scheduled])
            // The next update makes the event live again. If the update is withdrawn, the event is scheduled again.
            let update = try await stores.accept(.update(#"{"n":2}"#))
            #expect(try await state(stores) == [.live, .live])
            #expect(try await stores.outbox.cancel(update.id, now: stores.now) == true)
            #expect(try await state(stores) == [.scheduled, .scheduled])
            stores.clock.advance(by: 86_400)
            #expect(try await state(stores) == [.live, .live])
        }
    }

    @Test func `removing an audience without an end warns with its channel, and with an end it does not`()
        async throws
    {
        try await withStores { stores in
            let audiences = try ["de", "en", "fr"].map {
                Audience(id: try .sample(variant: $0), storagePolicy: .noMessageStored)
            }
            // Nobody can follow a channel that was not created yet.
            _ = try await put(stores, startsAt: nil, audiences: audiences)
            #expect(try await put(stores, startsAt: nil, audiences: Array(audiences.prefix(2))).warnings == [])
            _ = try await put(stores, startsAt: nil, audiences: audiences)
            try await stores.provision()
            try await stores.accept(.end(audiences: [audiences[2].id]))
            let event = try #require(try await stores.events.event(.sample(), now: stores.now))
            let warnings = try #require(
                try await put(stores, startsAt: nil, audiences: Array(audiences.prefix(1))).warnings)
            #expect(warnings.count == 1)
            #expect(warnings[0].contains("com.example.Goal in production for variant en"))
            #expect(warnings[0].contains(try #require(event.channels[1].channelID)))
        }
    }

    @Test func `a warning names activities with tokens when their app's last audience is removed`() async throws {
        try await withCrowds { world in
            let stores = world.stores
            let other = try Audience.sample("com.example.Other")
            try await stores.open(audiences: [.sample(), other])
            try await world.show("aa01")
            let warnings = try #require(try await put(stores, startsAt: nil, audiences: [other]).warnings)
            #expect(warnings.count == 1)
            #expect(warnings[0].contains("those that have tokens"))
        }
    }

    @Test func `a message whose channel has no place in the quota has a warning`() async throws {
        try await withStores { stores in
            _ = try await stores.apps.put(.sample(channelLimit: 1))
            try await stores.open("first")
            try await stores.open()
            let waiting = try await stores.accept(.update())
            #expect(waiting.warnings.count == 1)
            #expect(
                waiting.warnings.first?.contains("no place for the channel of com.example.Goal in production") == true)
            #expect(try await stores.outbox.broadcast(waiting.id)?.warnings == waiting.warnings)
            #expect(try await stores.accept(.update(), for: "first").warnings.isEmpty)
            // A channel that is not created yet does not mean that there is no place for it.
            _ = try await stores.apps.put(.sample(channelLimit: 2))
            try await stores.align()
            #expect(try await stores.accept(.update()).warnings.isEmpty)
        }
    }
}
