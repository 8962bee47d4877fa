internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandTestKit
internal import Testing

@testable internal import GrandstandStore

struct EventListTests {
    private func keys(_ stores: Stores, _ filter: EventFilter) async throws -> [String] {
        try await stores.events.events(where: filter, PageRequest(), now: stores.now).items.map {
            $0.specification.key.rawValue
        }
    }

    @Test func `events are paged in the order of creation, each once, even with equal times`() async throws {
        try await withStores { stores in
            for (key, step) in [("c", 0.0), ("a", 0), ("b", 0.000_001), ("e", 1), ("d", 0)] {
                stores.clock.advance(by: step)
                try await stores.put(.sample(key))
            }
            var seen: [String] = []
            var cursor: String?
            repeat {
                let page = try await stores.events.events(
                    where: EventFilter(), PageRequest(limit: 2, cursor: cursor), now: stores.now)
                seen += page.items.map(\.specification.key.rawValue)
                cursor = page.nextCursor
            } while cursor != nil
            #expect(seen == ["a", "c", "b", "d", "e"])
            let kind = try await problem {
                try await stores.events.events(where: EventFilter(), PageRequest(cursor: "nonsense"), now: stores.now)
            }
            #expect(kind == .invalidRequest)
        }
    }

    @Test func `events are filtered by state, kind, app in capitals or not, and start`() async throws {
        try await withStores { stores in
            let hour = 3_600.0
            func at(_ hours: Double) -> Date { stores.now.addingTimeInterval(hours * hour) }
            try await stores.put(.sample("early", kind: "match", startsAt: at(-1)))
            try await stores.put(.sample("late", kind: "match", startsAt: at(1)))
            try await stores.put(.sample("open", kind: "flight"))
            try await stores.put(.sample("updated", startsAt: at(2), audiences: [.sample("com.example.Other")]))
            try await stores.accept(.update(), for: "updated")
            try await stores.put(.sample("over", kind: "match", startsAt: at(-2)))
            try await stores.accept(.end(), for: "over")
            try await stores.put(.sample("off", kind: "match", startsAt: at(3)))
            try await stores.events.cancel(.sample("off"), now: stores.now)

            let cases: [(EventFilter, Set<String>)] = [
                (EventFilter(), ["early", "late", "open", "updated", "over", "off"]),
                (EventFilter(state: .scheduled), ["late", "open"]), (EventFilter(state: .live), ["early", "updated"]),
                (EventFilter(state: .ended), ["over"]), (EventFilter(state: .cancelled), ["off"]),
                (EventFilter(kind: "flight"), ["open"]),
                (EventFilter(bundleID: try .sample("COM.EXAMPLE.OTHER")), ["updated"]),
                (EventFilter(from: at(1)), ["late", "updated", "off"]), (EventFilter(to: at(1)), ["early", "over"]),
                (EventFilter(state: .scheduled, kind: "match", from: at(0), to: at(2)), ["late"]),
            ]
            for (filter, expected) in cases { #expect(Set(try await keys(stores, filter)) == expected) }
        }
    }

    @Test func `events are filtered by the season in their last declared metadata`() async throws {
        try await withStores { stores in
            func put(_ key: String, _ metadata: String?) async throws {
                var event = try EventSpecification.sample(key)
                event.metadata = metadata.map { Array($0.utf8) }
                try await stores.put(event)
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
            let bl1 = EventFilter(season: SeasonName(rawValue: "bl1"))
            #expect(try await keys(stores, bl1) == ["a", "b"])
            try await put("a", #"{"season": {"name": "cup"}}"#)
            #expect(try await keys(stores, bl1) == ["b"])
        }
    }
}
