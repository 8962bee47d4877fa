internal import FoundationEssentials
internal import Grandstand
internal import GrandstandStore
internal import GrandstandTestKit
internal import Postgres
internal import Testing

/// Calendars declared, listed, leased and forgotten.
struct CalendarListTests {
    private static let fetched = CalendarStage.declaration.replacing(
        #"{"format""#, with: #"{"url": "https://example.com/a.ics", "refreshEvery": 3600, "format""#)

    @Test func `a calendar is declared by versions, and listed by name`() async throws {
        try await withCalendar { stage in
            let first = try #require(try await stage.calendars.calendar(stage.name))
            let second = try await stage.declare(Self.fetched, if: .versions([first.version]))
            #expect(second.version != first.version)
            #expect(second.declaration.refreshEvery == 3_600)
            #expect(second.nextRefreshAt == CalendarStage.summer.addingTimeInterval(3_600))
            let kind = try await problem { try await stage.declare(if: .versions([first.version])) }
            #expect(kind == .versionMismatch)
            #expect(try await problem { try await stage.declare(if: .absent) } == .versionMismatch)
            for name in ["a", "z"] { try await stage.declare(as: CalendarName(rawValue: name)) }
            let page = try await stage.calendars.calendars(PageRequest(limit: 2), within: .all)
            #expect(page.items.map(\.name.rawValue) == ["a", "bl1"])
            let rest = try await stage.calendars.calendars(PageRequest(limit: 2, cursor: page.nextCursor), within: .all)
            #expect(rest.items.map(\.name.rawValue) == ["z"])
            #expect(rest.nextCursor == nil)
        }
    }

    @Test func `a key sees and changes a calendar when it reaches all its apps`() async throws {
        try await withCalendar { stage in
            try await stage.stores.apps.put(.sample("com.example.Other"))
            let own = AppReach.only([try BundleID.sample("com.example.goal")])
            let other = AppReach.only([try BundleID.sample("com.example.Other")])
            let both = try #require(CalendarName(rawValue: "both"))
            let audience =
                #"{"bundleId": "com.example.Other", "environment": "production", "storagePolicy": "noMessageStored"}, {"#
            try await stage.declare(
                CalendarStage.declaration.replacing(#""audiences": [{"#, with: #""audiences": [\#(audience)"#), as: both
            )
            #expect(try await stage.calendars.calendars(PageRequest(), within: own).items.map(\.name) == [stage.name])
            #expect(try await stage.calendars.calendars(PageRequest(), within: other).items.isEmpty)
            #expect(try await problem { try await stage.declare(as: both, within: own) } == .forbidden)
            let kind = try await problem {
                try await stage.calendars.delete(both, within: own, by: .server, now: CalendarStage.summer)
            }
            #expect(kind == .forbidden)
            try await stage.declare(Self.fetched, within: own)
            let claimed = try await stage.calendars.claimRefresh(
                now: CalendarStage.summer.addingTimeInterval(3_600), leasedUntil: .distantFuture)
            #expect(claimed?.reach == own)
        }
    }

    @Test func `a calendar that is due is one replica's, and due again after its time`() async throws {
        try await withCalendar { stage in
            let calendars = stage.calendars
            #expect(try await calendars.nextRefresh() == nil)
            try await stage.declare(Self.fetched)
            let due = CalendarStage.summer.addingTimeInterval(3_600)
            #expect(try await calendars.nextRefresh() == due)
            #expect(try await calendars.claimRefresh(now: CalendarStage.summer, leasedUntil: due) == nil)
            let lease = due.addingTimeInterval(100)
            #expect(try await calendars.claimRefresh(now: due, leasedUntil: lease)?.name == stage.name)
            #expect(try await calendars.claimRefresh(now: due, leasedUntil: lease) == nil)
            // A replica that died: its lease ends.
            #expect(try await calendars.claimRefresh(now: lease, leasedUntil: lease)?.name == stage.name)
            try await calendars.concludeRefresh(of: stage.name, failure: "HTTP 404", now: due)
            #expect(try await calendars.nextRefresh() == due.addingTimeInterval(300))
            #expect(try await calendars.calendar(stage.name)?.failure == "HTTP 404")
            try await stage.sync(Season().first(2), now: due)
            #expect(try await calendars.calendar(stage.name)?.failure == nil)
            #expect(try await calendars.nextRefresh() == due.addingTimeInterval(3_600))
        }
    }

    @Test func `a calendar that is forgotten leaves its events`() async throws {
        try await withCalendar { stage in
            let season = Season().first(2)
            try await stage.sync(season)
            try await stage.calendars.delete(stage.name, within: .all, by: .commandLine, now: CalendarStage.summer)
            #expect(try await stage.event(season.fixtures[0]).state == .scheduled)
            #expect(try await stage.calendars.calendar(stage.name) == nil)
            let kind = try await problem {
                try await stage.calendars.delete(stage.name, within: .all, by: .commandLine, now: CalendarStage.summer)
            }
            #expect(kind == .calendarNotFound)
            // Declared again it takes them over.
            try await stage.declare()
            #expect(try await stage.sync(season).numbers == [0, 0, 0, 2, 0])
        }
    }
}
