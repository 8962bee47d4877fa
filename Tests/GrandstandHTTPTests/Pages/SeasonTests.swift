internal import APNsWire
internal import Foundation
internal import Grandstand
internal import Testing

@testable internal import GrandstandHTTP

/// Events by day, and the places they need.
struct SeasonTests {
    private static func event(
        _ key: String, startsIn hours: Double, opensBefore: Int? = 3_600, audiences: Int = 1
    ) throws -> Event {
        let samples = try Samples()
        let startsAt = Samples.now.addingTimeInterval(hours * 3_600)
        let apps = try (0..<audiences).map { place in
            Audience(
                bundleID: try #require(BundleID(rawValue: "com.example.A\(place)")), environment: .production,
                storagePolicy: .noMessageStored)
        }
        return Event(
            specification: EventSpecification(
                key: try #require(EventKey(rawValue: key)), name: key, startsAt: startsAt,
                endsAt: startsAt.addingTimeInterval(7_200), channelsOpenBefore: opensBefore, audiences: apps),
            state: .scheduled, channels: apps.map { _ in .init(state: .waiting) }, createdAt: samples.event().createdAt,
            updatedAt: Samples.now)
    }

    @Test func `a day has its events in order, and how many channels they need`() throws {
        let app = AppEnvironment(bundleID: try #require(BundleID(rawValue: "com.example.A0")), environment: .production)
        let events = [
            try Self.event("late", startsIn: 20), try Self.event("early", startsIn: 14, audiences: 2),
            try Self.event("tomorrow", startsIn: 40), try Self.event("later", startsIn: 24 * 40),
        ]
        let days = SeasonDays(
            events, first: Samples.now, count: 3, capacities: [app: 2], tenure: ChannelTenure(), now: Samples.now
        ).days
        #expect(days.map(\.date) == ["2026-11-22", "2026-11-23", "2026-11-24"])
        #expect(days[0].isToday && days[0].weekday == "Sunday")
        #expect(days[0].events.map(\.key) == ["early", "late"])
        #expect(days[0].places.map(\.text) == ["2 of 2", "1"])
        #expect(days[0].places[0].placesWarning == "nearly all")
        // `late` keeps its channel for four hours after its end, into the next day.
        #expect(days[1].places.map(\.text) == ["2 of 2"])
        #expect(days[2].events.isEmpty && days[2].places.isEmpty)
    }
}
