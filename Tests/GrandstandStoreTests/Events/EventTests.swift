internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandTestKit
internal import Postgres
internal import Testing

@testable internal import GrandstandStore

struct EventTests {
    @Test func `put creates and then replaces, and everything declared is read back, metadata byte for byte`()
        async throws
    {
        try await withStores { stores in
            let metadata = #"{ "b": 1.50e3, "a": "\u26bd" }"#
            var specification = try EventSpecification.sample(
                kind: "match", startsAt: stores.now.addingTimeInterval(60), endsAt: stores.now.addingTimeInterval(120),
                channelsOpenAt: stores.now.addingTimeInterval(30),
                audiences: [
                    .sample("com.example.B", .production, .noMessageStored), .sample("com.example.A", .development),
                ], metadata: metadata)
            for app in ["com.example.A", "com.example.B"] { _ = try await stores.apps.put(.sample(app)) }
            let first = try await stores.events.put(specification, now: stores.now)
            #expect(first.created)
            #expect(first.event.specification == specification)
            #expect(first.event.createdAt == stores.now)

            let made = stores.now
            stores.clock.advance(by: 5)
            specification.name = "Final"
            specification.kind = nil
            specification.endsAt = nil
            specification.metadata = nil
            specification.audiences.reverse()
            let second = try await stores.events.put(specification, now: stores.now)
            #expect(!second.created)
            #expect(second.event.specification == specification)
            #expect(second.event.createdAt == made)
            #expect(second.event.updatedAt == stores.now)
            #expect(second.event.warnings == [])
            var read = second.event
            read.warnings = nil
            #expect(try await stores.events.event(specification.key, now: stores.now) == read)
        }
    }

    @Test func `an unknown app is named, and nothing changes`() async throws {
        try await withStores { stores in
            try await stores.put(.sample())
            var specification = try EventSpecification.sample(
                audiences: [.sample(), .sample("com.example.None"), .sample("com.example.goal", .development)])
            specification.name = "changed"
            do {
                _ = try await stores.events.put(specification, now: stores.now)
                Issue.record("nothing was refused")
            } catch let problem as Problem {
                #expect(problem.kind == .invalidRequest)
                #expect(problem.errors.map(\.pointer) == ["/audiences/1/bundleId", "/audiences/2/bundleId"])
                #expect(problem.errors.last?.detail == "The app is registered as com.example.Goal. Use this spelling.")
            }
            let event = try await stores.events.event(specification.key, now: stores.now)
            #expect(event?.specification == (try .sample()))
        }
    }

    @Test func `an event that is over cannot be changed`() async throws {
        try await withStores { stores in
            let ended = try await stores.open("ended")
            try await stores.accept(.end(), for: "ended")
            let cancelled = try await stores.open("cancelled")
            try await stores.events.cancel(cancelled, now: stores.now)
            for key in [ended, cancelled] {
                let specification = try EventSpecification.sample(key.rawValue)
                #expect(
                    try await problem { try await stores.events.put(specification, now: stores.now) } == .eventEnded)
                // Cancelling an event that is over changes nothing and is not an error.
                try await stores.events.cancel(key, now: stores.now)
            }
            #expect(try await stores.events.event(ended, now: stores.now)?.state == .ended)
            #expect(try await stores.events.event(cancelled, now: stores.now)?.state == .cancelled)
            #expect(try await problem { try await stores.accept(.update(), for: "cancelled") } == .eventEnded)
            #expect(
                try await problem { try await stores.events.cancel(.sample("none"), now: stores.now) } == .eventNotFound
            )
        }
    }

    @Test func `waiting messages of a removed audience are cancelled, and when it returns it accepts messages again`()
        async throws
    {
        try await withStores { stores in
            let kept = try Audience.sample("com.example.Kept")
            try await stores.open(audiences: [.sample(), kept])
            let accepted = try await stores.accept(.update())
            try await stores.put(.sample(audiences: [kept]))
            #expect(try await stores.outbox.broadcast(accepted.id)?.deliveries.map(\.state) == [.cancelled, .queued])
            let channel = try await stores.channel()
            try await stores.put(.sample(audiences: [kept, .sample()]))
            stores.clock.advance(by: 1)
            try await stores.provision()
            #expect(try await stores.channel().id == channel.id)
            try await stores.accept(.update(audiences: [Audience.sample().id]))
            let sent = try await stores.claim()
            #expect(sent.map(\.message.channelID).contains(channel.channelID ?? ""))
            #expect(sent.count == 2)
        }
    }

    @Test
    func `an audience that returns after its channel retired gets another, and one with its own end stays ended`()
        async throws
    {
        try await withStores { stores in
            let kept = try Audience.sample("com.example.Kept")
            try await stores.open(audiences: [.sample(), kept])
            let old = try await stores.channel()
            try await stores.put(.sample(audiences: [kept]))
            try await stores.align()
            stores.clock.advance(by: 1)
            try await stores.put(.sample(audiences: [kept, .sample()]))
            try await stores.provision()
            let new = try await stores.channel()
            #expect(new.id != old.id)
            let toIt = [try Audience.sample().id]
            try await stores.accept(.update(audiences: toIt))
            #expect(try await stores.sendOne().message.channelID == new.channelID)

            try await stores.accept(.end(audiences: toIt))
            stores.clock.advance(by: 1)
            try await stores.put(.sample(audiences: [kept]))
            stores.clock.advance(by: 1)
            try await stores.put(.sample(audiences: [kept, .sample()]))
            #expect(try await problem { try await stores.accept(.update(audiences: toIt)) } == .eventEnded)
        }
    }

    @Test func `SQL and Swift compute the same state for every combination of times`() async throws {
        let now = ManualClock().now
        let moments: [Date?] = [nil, now.addingTimeInterval(-1), now, now.addingTimeInterval(1)]
        let cases = moments.flatMap { startsAt in
            moments.flatMap { update in
                [nil, now].flatMap { ended in [nil, now].map { (startsAt, update, ended, $0 as Date?) } }
            }
        }
        try await withDatabase(.empty) { test in
            let rows = try await test.pool.query(
                """
                select \(PostgresEventStore.state(now: now)) as state
                from unnest(\(cases.map(\.0)), \(cases.map(\.1)), \(cases.map { $0.2 as Date? }), \(cases.map(\.3)))
                    with ordinality as e(starts_at, first_update_at, ended_at, cancelled_at, place) order by place
                """)
            #expect(rows.count == cases.count)
            for (row, moments) in zip(rows, cases) {
                let state = Event.State(
                    startsAt: moments.0, firstUpdateAt: moments.1, endedAt: moments.2, cancelledAt: moments.3, now: now)
                #expect(try row.decode(String.self, "state") == state.rawValue, "\(moments)")
            }
        }
    }
}
