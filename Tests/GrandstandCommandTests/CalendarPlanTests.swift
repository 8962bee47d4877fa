internal import APNsWire
internal import Foundation
internal import Grandstand
internal import GrandstandTestKit
internal import JSON
internal import Testing

@testable internal import GrandstandCommand
@testable internal import GrandstandServer

/// The changes that a calendar makes to its events.
struct CalendarPlanTests {
    enum Form: CaseIterable {
        case ics
        case csv

        func world() throws -> CalendarWorld {
            try CalendarWorld(self == .ics ? CalendarWorld.ics() : CalendarWorld.csv)
        }
        func file(_ season: Season) -> [UInt8] { self == .ics ? season.ics() : season.csv() }
    }

    @Test(arguments: Form.allCases)
    func `a second sync of the same season changes nothing`(form: Form) throws {
        var (world, season) = try CalendarWorld.synced(form)
        for fixture in season.fixtures {
            let draft = try world.draft(fixture)
            let kickOff = Date(timeIntervalSince1970: Double(fixture.kickOff))
            #expect((draft.name, draft.startsAt) == (fixture.title, kickOff))
            #expect(draft.endsAt == kickOff + 6_300)
        }
        let draft = try world.draft(season.fixtures[5])
        #expect(draft.kind == "match")
        #expect(draft.topics?.first == "league:bl1")
        #expect(draft.topics?.count == 3)
        #expect(try world.sync(form.file(season)).numbers == [0, 0, 0, 380, 0])
        // The order of the lines in a CSV file does not matter.
        if form == .csv { season.fixtures.reverse() }
        #expect(try world.sync(form.file(season)).numbers == [0, 0, 0, 380, 0])
    }

    /// A value that the calendar gave a member in the last run, the one that it gives now, and the one that the event
    /// has; then the event's value after the next run. `nil`: the member is absent.
    static let comparisons: [(last: String?, now: String?, event: String?, result: String?)] = [
        ("1", "1", "1", "1"), ("1", "1", "2", "2"), ("1", "1", nil, nil), ("1", "2", "1", "2"), ("1", "2", "2", "2"),
        ("1", "2", "3", "2"), ("1", "2", nil, "2"), ("1", nil, "1", nil), ("1", nil, "2", nil), ("1", nil, nil, nil),
        (nil, nil, nil, nil), (nil, nil, "1", "1"), (nil, "1", nil, "1"), (nil, "1", "1", "1"), (nil, "1", "2", "1"),
    ]

    @Test(
        arguments: [
            ("name", #""%""#), ("kind", #""%""#), ("topics", #"["team:%"]"#), ("defaults", #"{"staleAfter":%}"#),
            ("channelsOpenBefore", "%"),
            ("audiences", "[\(CalendarWorld.audience.replacing("Stadium", with: "Stadium%"))]"),
        ])
    func `every member keeps a change by hand until the calendar changes that member`(name: String, json: String)
        throws
    {
        var season = Season()
        season.fixtures = [season.fixtures[0]]
        let fixture = season.fixtures[0]
        let plan = try JSONDraft(JSONValue(parsing: Array(CalendarWorld.ics().utf8)))
        func document(_ document: JSONDraft, with value: String?) -> JSONDraft {
            var document = document
            document[name] = value.map { Array(json.replacing("%", with: $0).utf8) }
            return document
        }
        func declaration(_ value: String?) throws -> CalendarDeclaration {
            try CalendarWorld.declaration(String(decoding: document(plan, with: value).text, as: UTF8.self))
        }
        let canBeAbsent = !["name", "audiences"].contains(name)
        for (last, now, event, result) in Self.comparisons where canBeAbsent || ![last, now, event].contains(nil) {
            var world = try CalendarWorld()
            world.declaration = try declaration(last)
            try world.sync(season.ics())
            try world.edit(fixture) { $0 = document($0, with: event) }
            // The member as the API shows it.
            let shown = try [event, result].map { value in
                var other = world
                try other.edit(fixture) { $0 = document($0, with: value) }
                return try other.event(fixture).document[name]
            }
            world.declaration = try declaration(now)
            let fields = try world.sync(season.ics()).change.flatMap(\.fields)
            #expect(try world.event(fixture).document[name] == shown[1], "\([last, now, event])")
            // The report names every change with the value that it replaces, also if that was set by hand.
            let expected = event == result ? [] : [[name: shown]]
            #expect(fields.map { [$0.name: [$0.old, $0.new]] } == expected, "\([last, now, event])")
            #expect(try world.plan(season.ics()).isEmpty, "\([last, now, event])")
        }
    }

    // MARK: Events that are over

    @Test func `an ended match is declared again if it is moved into the future, and the server decides`() throws {
        var (world, season) = try CalendarWorld.synced()
        world.now = Date(timeIntervalSince1970: Double(season.fixtures[0].kickOff + 200_000))
        for place in 0..<2 { world.set(.ended, try world.event(season.fixtures[place]).key) }
        season.fixtures[0].day += 60
        season.fixtures[1].home = "FC Neu"
        let plan = try world.sync(season.ics())
        #expect(plan.numbers == [0, 1, 0, 379, 0])
        #expect(plan.change.first?.uid == season.fixtures[0].uid)
    }

    @Test func `a fixture in the past without an event is counted as past`() throws {
        var world = try CalendarWorld()
        var season = Season()
        world.now = Date(timeIntervalSince1970: Double(season.fixtures[199].kickOff))
        season.fixtures[379].isCancelled = true
        let over = season.fixtures.dropLast().count {
            Double($0.kickOff + 6_300) <= world.now.timeIntervalSince1970
        }
        let plan = try world.sync(season.ics())
        // The cancelled fixture is not past. It has no event and needs none.
        #expect(plan.numbers == [379 - over, 0, 0, 1, 0])
        #expect(plan.past == over)
    }

    @Test(
        arguments: [
            "2026-11-28,A,B,15:30,Europe/Vienna,Postponed", "2026-11-28,A,B,TBD,Europe/Vienna,",
            ",A,B,,,TENTATIVE", "2026-11-28,A,B,15:30,Europe/Vienna,Verlegt",
        ])
    func `a postponed fixture has no time, start or channel until it gets a date`(row: String) throws {
        func file(_ row: String) -> [UInt8] { Array("id,date,Team 1,Team 2,time,zone,state\n1,\(row)\n".utf8) }
        let more = #"""
            "season": "bl1", "statuses": {"verlegt": "postponed"},
            "start": {"attributesType": "Match", "attributes": {}, "alert": {"title": "{summary}"}}
            """#
        var world = try CalendarWorld(CalendarWorld.csv.replacing(#""season": "bl1""#, with: more))
        try world.sync(file("2026-11-28,A,B,15:30,Europe/Vienna,"))
        let key = try #require(world.events.keys.first)
        let names = world.events[key]?.document.names
        let plan = try world.sync(file(row))
        #expect(plan.numbers == [0, 1, 0, 0, 0], "\(plan.problems)")
        #expect(plan.change[0].fields.map(\.name) == ["channelsOpenBefore", "endsAt", "start", "startsAt"])
        let event = try #require(world.events[key]).document.declaration()
        #expect(event.startsAt == nil && event.start == nil && event.channelsDueAt == .undated)
        world.now = Date(timeIntervalSince1970: 1_800_000_000)
        #expect(try world.sync(file(row)).numbers == [0, 0, 0, 1, 0])
        #expect(try world.sync(file("2027-03-06,A,B,18:00,Europe/Vienna,scheduled")).numbers == [0, 1, 0, 0, 0])
        #expect(world.events[key]?.document.names == names)
    }

    @Test func `a calendar with new UIDs in each export creates nothing, and a problem says what to do`() throws {
        var (world, season) = try CalendarWorld.synced()
        func renew(_ places: Range<Int>) { for place in places { season.fixtures[place].uid += "-new" } }
        for _ in 1...2 {
            renew(0..<380)
            let plan = try world.sync(season.ics())
            #expect(plan.numbers == [0, 0, 0, 380, 1] && !plan.holdsBack)
            #expect(plan.problems.first?.detail.contains("set uid in columns") == true)
        }
        // A few new UIDs are not reported.
        renew(0..<100)
        season.fixtures[200].minute += 15
        #expect(try world.sync(season.ics()).numbers == [0, 1, 0, 379, 0])
        let columns = #", "columns": {"uid": "{dtstart} {home} {away}"}"#
        world.declaration = try CalendarWorld.declaration(CalendarWorld.ics(columns))
        #expect(try world.sync(season.ics()).numbers == [0, 0, 0, 380, 1])
        renew(0..<380)
        #expect(try world.sync(season.ics()).numbers == [0, 0, 0, 380, 0])
    }

    // MARK: Entries that cannot be read

    @Test func `an entry with a fault neither cancels its event nor holds the other changes back`() throws {
        var (world, season) = try CalendarWorld.synced(.csv)
        season.fixtures[3].zone = "Mars/Olympus"
        season.fixtures[4].home = ""
        season.fixtures[5].home = String(repeating: "x", count: 300)
        season.fixtures[6].minute += 5
        let plan = try world.sync(season.csv())
        #expect(plan.numbers == [0, 1, 0, 376, 3])
        #expect(plan.problems.compactMap(\.line).sorted() == [5, 6, 7])
        #expect(Set(plan.problems.map(\.uid)) == Set(season.fixtures[3...5].map(\.uid)))
    }

    @Test func `nothing is cancelled while the UIDs of some entries are unknown`() throws {
        var (world, season) = try CalendarWorld.synced(.csv)
        season.fixtures[3].uid = ""
        let plan = try world.plan(season.csv())
        #expect(plan.numbers == [0, 0, 0, 379, 2])
        #expect(plan.problems.contains { $0.detail.contains("UIDs of some entries cannot be read") })
        #expect(!plan.holdsBack && plan.notes.isEmpty)
        #expect(try world.plan(season.csv(), acceptsRemovals: true).numbers == [0, 0, 1, 379, 1])
    }

    @Test func `two entries with the same key make one event, and an event of another season is not changed`() throws {
        var world = try CalendarWorld(CalendarWorld.byTeams)
        var season = Season()
        season.fixtures[1].home = season.fixtures[0].home
        season.fixtures[1].away = season.fixtures[0].away
        var cup = try CalendarWorld(
            CalendarWorld.byTeams.replacing(#""season": "bl1""#, with: #""season": "cup""#))
        var one = season
        one.fixtures = [season.fixtures[2]]
        #expect(try cup.sync(one.ics()).create.count == 1)
        world.events = cup.events
        let plan = try world.sync(season.ics())
        #expect(plan.numbers == [378, 0, 0, 0, 2])
        #expect(plan.problems.contains { $0.detail.contains("on line") && $0.uid == season.fixtures[1].uid })
        #expect(plan.problems.contains { $0.detail.contains("the season cup") })
    }

    @Test func `an entry with a new UID that makes the same event keeps that event`() throws {
        var world = try CalendarWorld(CalendarWorld.byTeams)
        var season = Season()
        try world.sync(season.ics())
        try world.edit(season.fixtures[0]) { $0.set("name", "The big one") }
        for place in season.fixtures.indices { season.fixtures[place].uid += "-new" }
        #expect(try world.sync(season.ics()).numbers == [0, 0, 0, 380, 0])
        #expect(try world.draft(season.fixtures[0]).name == "The big one")
        #expect(Set(world.events.values.map(\.note?.uid)) == Set(season.fixtures.map(\.uid)))
        #expect(try world.plan(season.ics()).isEmpty)
        // A renamed fixture keeps its event, too, though the key has the old name.
        season.fixtures[0].home = "FC Neu"
        #expect(try world.sync(season.ics()).numbers == [0, 1, 0, 379, 0])
    }

    @Test func `an existing event is taken over, and keeps what the calendar does not have`() throws {
        var world = try CalendarWorld()
        let season = Season()
        let key = try #require(EventKey(rawValue: "bl1:" + KeyText.folded(season.fixtures[0].uid)))
        var document = JSONDraft()
        document.set("name", "By hand")
        document["audiences"] = Array("[\(CalendarWorld.audience)]".utf8)
        document["metadata"] = Array(#"{"a":1}"#.utf8)
        try world.put(key, document)
        #expect(try world.sync(season.ics()).numbers == [379, 1, 0, 0, 0])
        let draft = try world.draft(season.fixtures[0])
        let metadata = try JSONValue(parsing: draft.metadata?.utf8 ?? [])
        #expect(metadata["a"] != nil && metadata["season"]?["name"]?.string == "bl1")
        #expect(draft.name == season.fixtures[0].title)
        #expect(try world.plan(season.ics()).isEmpty)
    }

    @Test func `a run that was interrupted is completed by the next`() throws {
        var world = try CalendarWorld()
        let season = Season()
        let first = try world.plan(season.ics())
        for write in first.create.prefix(100) { try world.put(write.key, write.document) }
        #expect(try world.sync(season.ics()).numbers == [280, 0, 0, 100, 0])
        world.now += 3_600
        // The interrupted run stored the note of a cancellation, but stopped before it cancelled the event.
        var fewer = season
        fewer.fixtures.removeLast()
        let cancellation = try #require(try world.plan(fewer.ics()).cancel.first)
        try world.put(cancellation.key, cancellation.document)
        #expect(try world.sync(fewer.ics()).numbers == [0, 0, 1, 379, 0])
        #expect(try world.plan(fewer.ics()).isEmpty)
    }
}
