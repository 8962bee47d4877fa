internal import Foundation
internal import Grandstand
internal import GrandstandTestKit
internal import Testing

@testable internal import GrandstandCommand
@testable internal import GrandstandServer

/// Entries that the file no longer has, and entries that the file cancels.
struct CalendarShrinkTests {

    @Test func `cancellations that were held back stay held back, even when many entries are new`() throws {
        var (world, season) = try CalendarWorld.synced()
        let whole = season
        season.fixtures.removeLast(127)
        #expect(try world.sync(season.ics()).holdsBack)
        for var fixture in whole.fixtures.prefix(200) {
            fixture.uid += "-new"
            season.fixtures.append(fixture)
        }
        let plan = try world.sync(season.ics())
        #expect(plan.numbers == [200, 0, 0, 253, 1])
        #expect(plan.problems.first?.detail.hasPrefix("127 of 380 events to come") == true)
        #expect(try world.sync(season.ics()).numbers == [0, 0, 0, 453, 1])
        season.fixtures += whole.fixtures.suffix(127)
        #expect(try world.sync(season.ics()).numbers == [0, 0, 0, 580, 0])
        #expect(!world.events.values.contains { $0.note?.removal != nil })
    }

    @Test func `events that have begun or are over are neither cancelled nor counted`() throws {
        var (world, season) = try CalendarWorld.synced()
        let keys = try season.fixtures.prefix(300).map { try world.event($0).key }
        for key in keys { world.set(.ended, key) }
        world.set(.live, keys[0])
        let last = season.fixtures.removeLast()
        season.fixtures.removeFirst(300)
        let plan = try world.sync(season.ics())
        #expect(plan.numbers == [0, 0, 1, 79, 0])
        #expect(plan.cancel.map(\.uid) == [last.uid])
    }

    @Test func `a cancelled fixture cancels its event, unless it has begun`() throws {
        var (world, season) = try CalendarWorld.synced()
        for place in 0..<100 { season.fixtures[place].isCancelled = true }
        world.set(.live, try world.event(season.fixtures[0]).key)
        let plan = try world.sync(season.ics())
        #expect(plan.numbers == [0, 0, 99, 280, 1])
        #expect(plan.cancel.allSatisfy { $0.reason == .cancelled })
        #expect(plan.problems.first?.detail.contains("has begun") == true)
        #expect(try world.sync(season.ics()).numbers == [0, 0, 0, 379, 1])
        // An event that was reopened by hand a moment after its cancellation stays open.
        world.now += 1
        try world.reopen(season.fixtures[2])
        #expect(try world.sync(season.ics()).numbers == [0, 0, 0, 379, 1])
        // An event whose entry comes back is not reopened automatically.
        season.fixtures[1].isCancelled = false
        let back = try world.sync(season.ics())
        #expect(back.numbers == [0, 0, 0, 378, 2])
        #expect(back.problems.contains { $0.detail.contains("event reopen") })
        try world.reopen(season.fixtures[1])
        #expect(try world.sync(season.ics()).numbers == [0, 0, 0, 379, 1])
    }

    @Test func `an event that was reopened after an end or a cancellation is neither cancelled nor changed`() throws {
        var (world, season) = try CalendarWorld.synced()
        let whole = season
        for place in 0..<4 { world.set(place < 2 ? .cancelled : .ended, try world.event(season.fixtures[place]).key) }
        // The calendar then cancels two of these events, and no longer has the entries of the other two.
        season.fixtures[1].isCancelled = true
        season.fixtures[3].isCancelled = true
        season.fixtures.remove(at: 2)
        season.fixtures.remove(at: 0)
        #expect(try world.sync(season.ics()).numbers == [0, 0, 0, 378, 0])
        for (place, fixture) in whole.fixtures.prefix(4).enumerated() {
            world.now += 1
            try world.reopen(fixture)
            try world.edit(fixture) { $0.set("name", "By hand \(place)") }
        }
        for _ in 1...2 {
            world.now += 3_600
            let plan = try world.sync(season.ics())
            #expect(plan.numbers == [0, 0, 0, 378, 0])
            #expect(!plan.holdsBack && plan.isEmpty)
        }
        // The calendar has the four entries again, so their events follow it again, and a later cancellation counts.
        #expect(try world.sync(whole.ics()).numbers == [0, 0, 0, 380, 0])
        #expect(try world.draft(whole.fixtures[3]).name == "By hand 3")
        let later = try world.sync(season.ics())
        let keys = try whole.fixtures.prefix(4).map { try world.event($0).key }
        #expect(Set(later.cancel.map(\.key)) == Set(keys))
    }

    @Test func `an event that was cancelled by hand stays cancelled, without a problem`() throws {
        var (world, season) = try CalendarWorld.synced()
        world.set(.cancelled, try world.event(season.fixtures[0]).key)
        season.fixtures[0].minute += 15
        #expect(try world.sync(season.ics()).numbers == [0, 0, 0, 380, 0])
    }

    @Test(arguments: CalendarPlanTests.Form.allCases)
    func `if more than a third of the fixtures are missing or cancelled, cancellations need a request`(
        form: CalendarPlanTests.Form
    ) throws {
        var (world, season) = try CalendarWorld.synced(form)
        let whole = season
        for place in 0..<100 { season.fixtures[place].isCancelled = true }
        season.fixtures.removeLast(26)
        #expect(try world.plan(form.file(season)).numbers == [0, 0, 126, 254, 0])
        season.fixtures[100].isCancelled = true
        let plan = try world.sync(form.file(season))
        #expect(plan.numbers == [0, 0, 0, 253, 1])
        #expect(plan.holdsBack)
        #expect(
            plan.problems.first?.detail.contains("127 of 380 events to come are missing or cancelled in the calendar")
                == true)
        // In the next sync of the same file, the cancellations stay held back, and no note changes.
        let again = try world.sync(form.file(season))
        #expect(again.numbers == [0, 0, 0, 253, 1] && again.notes.isEmpty)
        #expect(try world.plan(form.file(whole)).numbers == [0, 0, 0, 380, 0])
        let all = try world.sync(form.file(season), acceptsRemovals: true)
        #expect(all.numbers == [0, 0, 127, 253, 0])
        #expect(all.cancel.count { $0.reason == .cancelled } == 101)
        #expect(try world.sync(form.file(season)).numbers == [0, 0, 0, 354, 0])
    }

    @Test func `many cancellations are held back even in a calendar's first file`() throws {
        var (world, season) = try CalendarWorld.synced()
        for (key, event) in world.events {
            var document = event.document
            document["metadata"] = nil
            try world.put(key, document)
        }
        for place in season.fixtures.indices { season.fixtures[place].isCancelled = true }
        let plan = try world.sync(season.ics())
        #expect(plan.numbers == [0, 0, 0, 0, 1])
        #expect(plan.holdsBack)
        #expect(try world.plan(season.ics(), acceptsRemovals: true).numbers == [0, 0, 380, 0, 0])
    }
}

/// An organiser's plan file.
struct CalendarDeclarationTests {
    private static func draft(
        _ text: String, _ values: [String: String] = ["summary": "A – B", "home": "A", "away": "B"], uid: String = "1"
    ) throws -> EntryEvent {
        let entry = CalendarEntry(line: 7, uid: uid, startsAt: 1_795_876_200) { values[$0] }
        return try CalendarWorld.declaration(text).draft(entry)
    }

    private static func text(_ bytes: [UInt8]?) -> String? { bytes.map { String(decoding: $0, as: UTF8.self) } }

    @Test(
        arguments: [
            ("1. FC Köln", "1.-FC-Koln"), ("ŁKS Łódź/2", "LKS-Lodz-2"), ("  Brighton & Hove ", "Brighton-Hove"),
            ("a@b.example", "a-b.example"), ("Cafe\u{301}", "Cafe"), ("Зенит", ""), ("Straße_1:2", "Strasse_1:2"),
        ])
    func `diacritics are removed from letters in keys and topics`(text: String, folded: String) {
        #expect(KeyText.folded(text) == folded)
    }

    @Test func `the event of an entry has the filled templates`() throws {
        let start =
            #", "start": {"attributesType": "Match", "attributes": {"home": "{home}", "n": 1.50, "x": "{{}}"}, "#
            + #""alert": {"title": "{summary}", "body": "at {startsAt}"}}"#
        let draft = try Self.draft(
            CalendarWorld.ics(#", "name": "{home} v {away}", "defaultDuration": 60\#(start)"#),
            ["summary": "1. FC \"Köln\" – B", "home": "1. FC Köln", "away": "B"], uid: "x@y")
        #expect(draft.key.rawValue == "bl1:x-y")
        #expect(Self.text(draft.document["name"]) == #""1. FC Köln v B""#)
        #expect(Self.text(draft.document["endsAt"]) == #""2026-11-28T14:31:00.000Z""#)
        #expect(Self.text(draft.document["topics"]) == #"["league:bl1","team:1.-FC-Koln","team:B"]"#)
        #expect(
            Self.text(draft.document["start"])
                == #"{"attributesType":"Match","attributes":{"home":"1. FC Köln","n":1.50,"x":"{}"},"#
                + #""alert":{"title":"1. FC \"Köln\" – B","body":"at 2026-11-28T14:30:00.000Z"}}"#)
        let event = try draft.document.declaration()
        #expect(JSONDraft(declaring: event)["start"] != nil)
    }

    @Test func `the plan says what words, a missing time and midnight mean, and what the UID is`() throws {
        let reading = try CalendarWorld.declaration(
            CalendarWorld.ics(
                #", "statuses": {"Abgesagt": "cancelled"}, "noTime": "postponed", "midnight": "time", "#
                    + #""columns": {"uid": "{dtstart} {home} {away}", "endsAt": null}"#)
        ).reading
        for (lines, status) in [
            ("DTSTART;VALUE=DATE:20261128", .postponed), ("DTSTART:20261128T000000", .scheduled),
            ("DTSTART:20261128T153000\r\nSTATUS:ABGESAGT", .cancelled),
            ("DTSTART:20261128T153000\r\nDTEND:20261128T153000", .scheduled),
        ] as [(String, CalendarEntry.Status)] {
            let file = try reading.read(event(lines, "SUMMARY:A – B"))
            #expect(file.faults.isEmpty && file.entries.map(\.status) == [status], "\(file.faults)")
            #expect(file.entries.first?.uid.hasPrefix("20261128") == true && file.entries.first?.endsAt == nil)
        }
    }

    @Test(
        arguments: [
            (CalendarWorld.ics(), ["home": "A", "away": "B"], "summary"),
            (CalendarWorld.ics(), ["summary": "A – B", "away": "B"], "home"),
            (CalendarWorld.ics(), ["summary": "A – B", "home": "Зенит", "away": "B"], "home"),
            (
                CalendarWorld.ics().replacing("{uid}", with: "{summary}"),
                ["summary": String(repeating: "x", count: 130)], "event key"
            ),
        ])
    func `an entry without a value for a template is a fault of its line`(
        text: String, values: [String: String], word: String
    ) throws {
        let fault = #expect(throws: CalendarFault.self) { try Self.draft(text, values) }
        #expect(fault?.line == 7)
        #expect(fault?.uid == "1")
        #expect(fault?.detail.contains(word) == true)
    }

    @Test(
        arguments: [
            (#""season": "bl 1", "format""#, "/season"),
            (#""season": "bl1", "url": "https://a.example", "format""#, "/url"),
            (#""season": "bl1", "refreshEvery": 60, "format""#, "/refreshEvery"),
            (#""season": "bl1", "timeZone": "Mars/Olympus", "format""#, "/timeZone"),
            (#""season": "bl1", "name": "{home", "format""#, "/name"),
            (#""season": "bl1", "columns": {"home": "{"}, "format""#, "/columns/home"),
            (#""season": "bl1", "start": {"alert": {"title": "}"}}, "format""#, "/start/alert/title"),
            (#""season": "bl1", "datePattern": "mdy", "format""#, "/datePattern"),
        ])
    func `every error in a calendar declaration has a JSON pointer to its place`(members: String, pointer: String)
        throws
    {
        let text = CalendarWorld.ics().replacing(#""timeZone": "Europe/Vienna", "#, with: "")
            .replacing(#""season": "bl1", "format""#, with: members)
        let problem = #expect(throws: Problem.self) { try CalendarWorld.declaration(text) }
        #expect(problem?.errors.map(\.pointer) == [pointer])
    }
}
