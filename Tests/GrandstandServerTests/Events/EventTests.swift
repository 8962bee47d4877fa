internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import GrandstandTestKit
internal import Postgres
internal import Testing

@testable internal import GrandstandServer

struct EventTests {
    @Test func `put creates and then replaces, and everything declared is read back, metadata byte for byte`()
        async throws
    {
        try await withStores { stores in
            func raw(_ text: String) -> RawJSON { RawJSON(unchecked: text.utf8) }
            var tokens = try Audience.sample("com.example.A", .development)
            tokens.delivery = .tokens
            var german = try Audience.sample("com.example.B", .production, .noMessageStored, variant: "de")
            (german.contentType, german.priority) = ("GermanAttributes", 1)
            var draft = try Contract.EventDraft.sample(
                kind: "match", startsAt: stores.now + 60, endsAt: stores.now + 120, channelsOpenAt: stores.now + 30,
                audiences: [german, tokens],
                defaults: .init(priority: 10, staleAfter: 300, expiresIn: 60, relevanceScore: raw("7.5")))
            draft.metadata = raw(#"{ "b": 1.50e3, "a": "\u26bd" }"#)
            (draft.content, draft.topics) = ("MatchAttributes", ["b", "a"])
            // A new member must be declared here, too. MovedEventTests and StartReportTests declare these two.
            let missing = Mirror(reflecting: draft).children.filter { "\($0.value)" == "nil" }
            #expect(missing.map(\.label) == ["channelsOpenBefore", "start"])
            for app in ["com.example.A", "com.example.B"] { _ = try await stores.apps.put(.sample(app)) }
            let first = try await stores.events.put(draft, now: stores.now)
            #expect(first.created)
            #expect(try first.event.value.draft == draft)
            let made = stores.now
            stores.clock.advance(by: 5)
            draft.name = "Final"
            (draft.kind, draft.endsAt, draft.metadata) = (nil, nil, RawJSON(unchecked: "{}".utf8))
            draft.audiences.reverse()
            let second = try await stores.events.put(draft, now: stores.now)
            #expect(!second.created)
            #expect(try second.event.value.draft == draft)
            #expect(second.event.value.createdAt == made && second.event.value.updatedAt == stores.now)
            var read = second.event.value
            read.warnings = nil
            #expect(try await stores.event() == read)
        }
    }

    @Test func `an unknown app is named, and nothing changes`() async throws {
        try await withStores { stores in
            try await stores.put(.sample())
            let audiences = [
                try Audience.sample(), try .sample("com.example.None"), try .sample("com.example.goal", .development),
            ]
            let problem = await #expect(throws: Problem.self) {
                try await stores.events.put(.sample(kind: "changed", audiences: audiences), now: stores.now)
            }
            #expect(problem?.kind == .invalidRequest)
            #expect(problem?.errors.map(\.pointer) == ["/audiences/1/bundleId", "/audiences/2/bundleId"])
            #expect(problem?.errors.last?.detail.contains("no app com.example.goal, in this spelling.") == true)
            #expect(try await stores.event()?.draft == .sample())
        }
    }

    @Test func `an event that is over cannot be changed`() async throws {
        try await withStores { stores in
            for (key, state) in [("ended", Contract.EventState.ended), ("cancelled", .cancelled)] {
                try await stores.open(key)
                if state == .ended { try await stores.accept(.end(), for: key) } else { try await stores.cancel(key) }
                try await refuses(.eventEnded) { try await stores.put(.sample(), as: key) }
                // Cancelling an event that is over changes nothing and is not an error.
                try await stores.cancel(key)
                #expect(try await stores.event(key)?.state == state)
            }
            try await refuses(.eventNotFound) { try await stores.cancel("none") }
        }
    }

    @Test func `an audience may return, unless it had its own end`() async throws {
        try await withStores { stores in
            let kept = try Audience.sample("com.example.Kept")
            func declare(_ audiences: Audience...) async throws {
                stores.clock.advance(by: 1)
                try await stores.put(.sample(audiences: audiences))
            }
            try await stores.open(audiences: [.sample(), kept])
            let accepted = try await stores.accept(.update())
            try await declare(kept)
            #expect(try await stores.read(accepted)?.deliveries.map(\.state) == [.cancelled, .queued])
            let old = try await stores.channel()
            try await declare(kept, .sample())
            try await stores.provision()
            #expect(try await stores.channel().id == old.id)
            try await stores.sendOne()
            // Its channel retires before it returns.
            try await declare(kept)
            try await stores.align()
            try await declare(kept, .sample())
            try await stores.provision()
            let new = try await stores.channel()
            #expect(new.id != old.id)
            let toIt = [try Audience.sample().id]
            try await stores.accept(.update(audiences: toIt))
            #expect(try await stores.sendOne().message.channelID == new.channelID)

            try await stores.accept(.end(audiences: toIt))
            try await declare(kept)
            try await declare(kept, .sample())
            try await refuses(.eventEnded) { try await stores.accept(.update(audiences: toIt)) }
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
                select \(EventStore.state(now: now)) as state
                from unnest(\(cases.map(\.0)), \(cases.map(\.1)), \(cases.map { $0.2 as Date? }), \(cases.map(\.3)))
                    with ordinality as e(starts_at, first_update_at, ended_at, cancelled_at, place) order by place
                """)
            #expect(rows.count == cases.count)
            for (row, moments) in zip(rows, cases) {
                let state = Contract.EventState(
                    startsAt: moments.0, firstUpdateAt: moments.1, endedAt: moments.2, cancelledAt: moments.3, now: now)
                #expect(try row.decode(String.self, "state") == state.rawValue, "\(moments)")
            }
        }
    }
}

struct EventListTests {
    @Test func `events are filtered by state, kind, app in capitals or not, and start`() async throws {
        try await withStores { stores in
            let hour = 3_600.0
            func at(_ hours: Double) -> Date { stores.now + hours * hour }
            try await stores.put(.sample(kind: "match", startsAt: at(-1)), as: "early")
            try await stores.put(.sample(kind: "match", startsAt: at(1)), as: "late")
            try await stores.put(.sample(kind: "flight"), as: "open")
            try await stores.put(.sample(startsAt: at(2), audiences: [.sample("com.example.Other")]), as: "updated")
            try await stores.accept(.update(), for: "updated")
            try await stores.put(.sample(kind: "match", startsAt: at(-2)), as: "over")
            try await stores.accept(.end(), for: "over")
            try await stores.put(.sample(kind: "match", startsAt: at(3)), as: "off")
            try await stores.cancel("off")

            let cases: [(EventFilter, Set<String>)] = [
                (EventFilter(), ["early", "late", "open", "updated", "over", "off"]),
                (EventFilter(state: .scheduled), ["late", "open"]), (EventFilter(state: .live), ["early", "updated"]),
                (EventFilter(state: .ended), ["over"]), (EventFilter(state: .cancelled), ["off"]),
                (EventFilter(kind: "flight"), ["open"]),
                (EventFilter(bundleID: try .sample("COM.EXAMPLE.OTHER")), ["updated"]),
                (EventFilter(from: at(1)), ["late", "updated", "off"]), (EventFilter(to: at(1)), ["early", "over"]),
                (EventFilter(state: .scheduled, kind: "match", from: at(0), to: at(2)), ["late"]),
            ]
            for (filter, expected) in cases { #expect(Set(try await stores.listed(filter)) == expected) }
        }
    }

    @Test func `events are filtered by the season in their last declared metadata`() async throws {
        try await withStores { stores in
            func put(_ key: String, _ metadata: String?) async throws {
                var draft = try Contract.EventDraft.sample()
                draft.metadata = metadata.map { RawJSON(unchecked: $0.utf8) }
                try await stores.put(draft, as: key)
            }
            try await put("a", #"{"season": {"name": "bl1", "uid": "1"}}"#)
            // PostgreSQL's own JSON operators refuse a text with `\u0000`.
            try await put("b", #"{"x": "\u0000", "season": {"name": "bl1"}}"#)
            try await put("cup", #"{"season": {"name": "cup"}}"#)
            for (key, metadata) in [
                ("none", nil), ("text", #"{"season": "bl1"}"#), ("odd", #"{"season": {"name": "b l"}}"#),
            ] as [(String, String?)] {
                try await put(key, metadata)
            }
            let bl1 = EventFilter(season: "bl1")
            #expect(try await stores.listed(bl1) == ["a", "b"])
            try await put("a", #"{"season": {"name": "cup"}}"#)
            #expect(try await stores.listed(bl1) == ["b"])
        }
    }
}
