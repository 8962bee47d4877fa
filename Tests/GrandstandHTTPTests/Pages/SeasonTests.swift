internal import APNsWire
internal import Foundation
internal import Grandstand
internal import JSON
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

    @Test func `weeks begin on Monday, and a full day is folded`() throws {
        let samples = try Samples()
        let events = try (0..<9).map { try Self.event("e\($0)", startsIn: 14 + Double($0) / 10) }
        let monday = SeasonDays.monday(Samples.now)
        #expect(RFC3339.text(monday) == "2026-11-16T00:00:00.000Z")
        #expect(SeasonDays.monday(monday) == monday)
        #expect(SeasonDays.monday(Date(timeIntervalSince1970: -1)) == Date(timeIntervalSince1970: -3 * 86_400))
        let page = Season(
            Season.Contents(events: events), from: monday, tenure: ChannelTenure(), now: Samples.now)
        #expect(page.days.count == 28 && page.days[0].weekday == "Monday" && page.days[0].isPast)
        #expect(page.days[6].dayOfMonth == "22 Nov" && page.days[6].isToday)
        #expect(page.days[6].events.count == 6 && page.days[6].moreText == "3 more")
        #expect(page.nothingDeclared == nil && samples.key.rawValue == "derby")
    }

    @Test func `events that are over or have no channel add nothing to the channels needed`() throws {
        var over = try Self.event("over", startsIn: 14)
        over.state = .cancelled
        over.channels = [.init(state: .deleted)]
        let days = SeasonDays(
            [over], first: Samples.now, count: 1, capacities: [:], tenure: ChannelTenure(), now: Samples.now
        ).days
        #expect(days[0].events.count == 1 && days[0].places.isEmpty)
        #expect(days[0].events[0].channelsText == "1 deleted")
        // A cancelled event without a channel gets none.
        over.channels = [.init(state: .waiting)]
        let cancelled = SeasonEvent(over)
        #expect(cancelled.placesText == "0 places" && cancelled.channelsText == nil)
    }

    @Test func `every reconciliation says what it does, and asks for the key if it cannot be undone`() {
        #expect(Reconciling.allCases.filter(\.isIrreversible) == [.deleteUnmanaged, .recreate])
        #expect(
            Reconciling.allCases.map(\.flags) == [
                [], ["--apply"], ["--apply", "--adopt"], ["--apply", "--delete-unmanaged"], ["--apply", "--recreate"],
            ])
    }
}
