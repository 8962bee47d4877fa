internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandStore
internal import GrandstandTestKit
internal import Postgres
internal import Testing

/// Calendars and their events in the database.
struct CalendarStoreTests {
    @Test func `a season is one commit, and the same file again changes nothing`() async throws {
        try await withCalendar { stage in
            let season = Season()
            #expect(try await stage.sync(season).numbers == [380, 0, 0, 0, 0])
            let fixture = season.fixtures[200]
            let event = try await stage.event(fixture)
            #expect(event.specification.name == fixture.title)
            #expect(event.specification.startsAt == Date(timeIntervalSince1970: Double(fixture.kickOff)))
            #expect(event.channels.map(\.state) == [.pending])
            let traces = try await stage.traces()
            #expect(try await stage.sync(season).numbers == [0, 0, 0, 380, 0])
            #expect(try await stage.traces() == traces)
            #expect(try await stage.stores.count("select count(distinct xmin::text) as n from events") == 1)
        }
    }

    @Test(.timeLimit(.minutes(5)))
    func `ten leagues are taken one after the other, and the same files again change nothing`()
        async throws
    {
        try await withCalendar { stage in
            let leagues = try (1...10).map { number in
                let name = "l\(number)"
                return (
                    try #require(CalendarName(rawValue: name)),
                    Season(league: name, firstDay: Season.august + 7 * (number % 3))
                )
            }
            for (name, season) in leagues {
                try await stage.declare(
                    CalendarStage.declaration.replacing("bl1:{uid}", with: "\(name):{uid}"), as: name)
                #expect(try await stage.sync(season, of: name).numbers == [380, 0, 0, 0, 0])
            }
            #expect(try await stage.stores.count("select count(*) as n from events") == 3_800)
            let traces = try await stage.traces()
            for (name, season) in leagues {
                #expect(try await stage.sync(season, of: name).numbers == [0, 0, 0, 380, 0])
            }
            #expect(try await stage.traces() == traces)
            // One league's changes are its own.
            var (name, season) = leagues[3]
            season.fixtures[0].minute += 15
            #expect(try await stage.sync(season, of: name).numbers == [0, 1, 0, 379, 0])
            (name, season) = leagues[4]
            #expect(try await stage.sync(season, of: name).numbers == [0, 0, 0, 380, 0])
        }
    }

    @Test func `exactly what the calendar changed is changed`() async throws {
        try await withCalendar { stage in
            var season = Season().first(120)
            try await stage.sync(season)
            for place in 0..<40 { season.fixtures[place].minute += 30 }
            for place in 40..<43 { season.fixtures[place].day += 60 }
            season.fixtures[43].home = "FC Neu"
            for (place, name) in [(39, "By hand"), (44, "By hand, too")] {
                var specification = try await stage.event(season.fixtures[place]).specification
                specification.name = name
                try await stage.stores.put(specification)
            }
            let gone = season.fixtures.suffix(5)
            season.fixtures.removeLast(5)
            #expect(try await stage.sync(season).numbers == [0, 44, 5, 71, 0])
            #expect(try await stage.event(season.fixtures[39]).specification.name == "By hand")
            #expect(
                try await stage.event(season.fixtures[39]).specification.startsAt?.timeIntervalSince1970
                    == Double(season.fixtures[39].kickOff))
            #expect(try await stage.event(season.fixtures[43]).specification.name == season.fixtures[43].title)
            for fixture in gone { #expect(try await stage.event(fixture).state == .cancelled) }
            #expect(try await stage.sync(season).numbers == [0, 0, 0, 115, 0])
        }
    }

    @Test func `events that two calendars take at once are one calendar's`() async throws {
        try await withCalendar { stage in
            let season = Season().first(20)
            try await stage.sync(season)
            try await stage.stores.pool.query("delete from calendar_entries")
            let other = try #require(CalendarName(rawValue: "other"))
            try await stage.declare(as: other)
            let answers = await withTaskGroup(of: Problem?.self, returning: [Problem?].self) { group in
                for name in [stage.name, other] {
                    group.addTask {
                        do {
                            try await stage.sync(season, of: name)
                            return nil
                        } catch {
                            return error as? Problem ?? Problem(.internalError, "\(error)")
                        }
                    }
                }
                return await group.reduce(into: []) { $0.append($1) }
            }
            #expect(answers.allSatisfy { $0 == nil || $0?.kind == .storeUnavailable })
            #expect(answers.contains(nil))
            #expect(try await stage.stores.count("select count(distinct calendar) as n from calendar_entries") == 1)
            #expect(try await stage.stores.count("select count(*) as n from calendar_entries") == 20)
        }
    }

    @Test func `a preview says what a sync does, and leaves nothing behind`() async throws {
        try await withCalendar { stage in
            let season = Season().first(30)
            let traces = try await stage.traces()
            let preview = try await stage.sync(season, isRehearsal: true)
            #expect(preview.numbers == [30, 0, 0, 0, 0])
            #expect(try await stage.traces() == traces)
            #expect(try await stage.calendars.calendar(stage.name)?.lastSync == nil)
            let production = try #require(preview.forecasts.first)
            #expect(production.limit == 300)
            #expect(production.before.peak == 0)
            #expect(production.after.peak == 30)
            let sync = try await stage.sync(season)
            #expect(sync.forecasts == preview.forecasts)
            let quota = try #require(
                try await stage.stores.channels.quotas(now: CalendarStage.summer, tenure: Stores.tenure)
                    .first { $0.environment == .production })
            #expect(quota.forecast == sync.forecasts.first?.after)
        }
    }

    @Test func `two syncs at once are one after the other`() async throws {
        try await withCalendar { stage in
            let season = Season().first(20)
            async let one = stage.sync(season)
            async let other = stage.sync(season)
            let numbers = try await [one.numbers, other.numbers].sorted { $0[0] > $1[0] }
            #expect(numbers == [[20, 0, 0, 0, 0], [0, 0, 0, 20, 0]])
        }
    }

    @Test func `a sync that fails at its last event changes none`() async throws {
        try await withCalendar { stage in
            let season = Season().first(20)
            let traces = try await stage.traces()
            try await stage.stores.pool.query(
                """
                create function refuse() returns trigger language plpgsql as $$
                begin raise exception 'no'; end $$
                """)
            try await stage.stores.pool.query(
                """
                create trigger refuse before insert on calendar_entries for each row execute function refuse()
                """)
            await #expect(throws: (any Error).self) { try await stage.sync(season) }
            #expect(try await stage.traces() == traces)
        }
    }

    @Test func `a shrunk calendar raises an alarm once, until it is whole or all is cancelled`() async throws {
        try await withCalendar { stage in
            let hooks = Hooks(stage.stores)
            try await hooks.add([.calendarShrunk], app: "com.example.Goal")
            let season = Season().first(30)
            try await stage.sync(season)
            let later = CalendarStage.summer.addingTimeInterval(60)
            #expect(try await stage.sync(season.first(19)).numbers == [0, 0, 0, 19, 1])
            #expect(try await stage.sync(season.first(18), now: later).numbers == [0, 0, 0, 18, 1])
            #expect(try await stage.event(season.fixtures[29]).state == .scheduled)
            let shrunk = try #require(try await stage.calendars.calendar(stage.name)?.shrunk)
            #expect(
                shrunk
                    == CalendarShrunk(
                        calendar: "bl1", apps: [try .sample()], vanished: 12, future: 30, since: CalendarStage.summer))
            let quotas = try await stage.stores.channels.quotas(now: later, tenure: Stores.tenure)
            #expect(quotas.map(\.alarm) == [nil, .calendarShrunk])
            #expect(quotas.last?.shrunkCalendars == [shrunk])
            _ = try await hooks.compose()
            #expect(try await hooks.claim().map(\.topic) == [.calendarShrunk])
            #expect(try await stage.sync(season).numbers == [0, 0, 0, 30, 0])
            #expect(try await stage.calendars.calendar(stage.name)?.shrunk == nil)
            try await stage.sync(season.first(5))
            // Without a file: what the last one lacked.
            let calendar = try #require(try await stage.calendars.calendar(stage.name))
            let report = try await stage.calendars.sync(
                calendar, .init(drafts: nil, cancelAll: true), isRehearsal: false, within: .all, by: .commandLine,
                tenure: Stores.tenure, now: later)
            #expect(report.numbers == [0, 0, 25, 0, 0])
            #expect(try await stage.calendars.calendar(stage.name)?.shrunk == nil)
            #expect(try await stage.event(season.fixtures[29]).state == .cancelled)
        }
    }

    @Test func `every event has its line in the audit log, and the sync one`() async throws {
        try await withCalendar { stage in
            try await stage.sync(Season().first(3))
            let page = try await stage.stores.auditLog.entries(where: AuditFilter(), PageRequest())
            let actions = page.items.map(\.action)
            #expect(actions.count { $0 == .eventCreated } == 3)
            #expect(actions.count { $0 == .calendarCreated } == 1)
            let synced = page.items.filter { $0.action == .calendarSynced }
            #expect(synced.map(\.reason) == ["bl1: 3 events created, 0 changed, 0 cancelled"])
            #expect(synced.map(\.subject.bundleID) == [try BundleID.sample()])
        }
    }

    @Test func `an event of another calendar is left alone, and one that is declared anew meanwhile is not guessed`()
        async throws
    {
        try await withCalendar { stage in
            let season = Season().first(3)
            try await stage.sync(season)
            let other = try #require(CalendarName(rawValue: "other"))
            try await stage.declare(as: other)
            let report = try await stage.sync(season, of: other)
            #expect(report.numbers == [0, 0, 0, 0, 3])
            let before = try #require(try await stage.calendars.calendar(stage.name))
            try await stage.declare(CalendarStage.declaration.replacing("team:{home}", with: "team:{away}"))
            let kind = try await problem {
                try await stage.calendars.sync(
                    before, .init(drafts: []), isRehearsal: false, within: .all, by: .server, tenure: Stores.tenure,
                    now: CalendarStage.summer)
            }
            #expect(kind == .storeUnavailable)
        }
    }

    @Test func `a moved match takes its followers along, and a vanished one's updates go no more`() async throws {
        try await withCalendar { stage in
            var season = Season().first(12)
            try await stage.sync(season)
            try await stage.stores.provision()
            let channel = try #require(try await stage.event(season.fixtures[0]).channels.first?.channelID)
            season.fixtures[0].day += 30
            season.fixtures.removeLast()
            #expect(try await stage.sync(season).numbers == [0, 1, 1, 10, 0])
            #expect(try await stage.event(season.fixtures[0]).channels.first?.channelID == channel)
        }
    }
}
