internal import Foundation
internal import Grandstand
internal import GrandstandTestKit
internal import JSON
internal import Testing

@testable internal import GrandstandCommand
@testable internal import GrandstandServer

/// iCalendar as other programs write it.
struct ICalendarTests {
    /// 2026-11-28T14:30:00Z.
    private static let halfPastTwo = 1_795_876_200

    /// What is special, the text, and how it is read if not in Vienna's time. The kick-off is the same in all.
    static let forms: [(what: String, text: String, reading: CalendarReader?)] = [
        ("UTC", event("DTSTART:20261128T143000Z"), nil),
        ("floating", event("DTSTART:20261128T153000"), nil),
        ("a zone of the system", event("DTSTART;TZID=Europe/London:20261128T143000"), nil),
        ("a quoted zone", event("DTSTART;X-A=\"b:c;d\";TZID=\"Europe/London\":20261128T143000"), nil),
        (
            "a definition that is not read",
            event(
                "DTSTART;TZID=Europe/London:20261128T143000",
                before: [
                    "BEGIN:VTIMEZONE", "TZID:Europe/London", "BEGIN:DAYLIGHT", "DTSTART:20070311T020000",
                    "TZOFFSETFROM:-0500", "no property", "RRULE:FREQ=NEVER", "END:DAYLIGHT", "END:VTIMEZONE",
                ]), nil
        ),
        (
            "a zone that is answered by another", event("DTSTART;TZID=W. Europe Standard Time:20261128T153000"),
            CalendarReader(format: .ics, commandZone: TimeZone.named("Europe/Vienna"))
        ),
        (
            "a file's zone that is no zone's name",
            event("DTSTART:20261128T143000", before: ["X-WR-TIMEZONE:Local time"]), .ics()
        ),
        (
            "the file's own zone", event("DTSTART:20261128T233000", before: ["X-WR-TIMEZONE:Asia/Tokyo"]),
            .ics()
        ),
        ("LF", event("DTSTART:20261128T143000Z").replacing("\r\n", with: "\n"), nil),
        ("CR", event("DTSTART:20261128T143000Z").replacing("\r\n", with: "\r"), nil),
        ("folded", event("DTST\r\n ART;TZID=Europe\r\n\t/London:2026\r\n 1128T143000"), nil),
        ("a mark", "\u{FEFF}" + event("DTSTART:20261128T143000Z"), nil),
        ("small letters", event("dtstart;tzid=Europe/London:20261128t143000"), nil),
        ("empty lines", event("DTSTART:20261128T143000Z", "", ""), nil),
        ("an empty line in a fold", event("DTSTART:20261128T", "", " 143000Z"), nil),
        (
            "a newer sequence",
            event(
                "DTSTART:20261128T143000Z", "SEQUENCE:2", "END:VEVENT", "BEGIN:VEVENT", "UID:1",
                "DTSTART:20261129T143000Z", "SEQUENCE:1"), nil
        ),
    ]

    @Test func `a kick-off is the same instant in every form`() throws {
        for (what, text, reading) in Self.forms {
            let file = try (reading ?? .ics(timeZone: "Europe/Vienna")).read(text)
            #expect(file.faults == [], "\(what)")
            #expect(file.entries.map(\.startsAt) == [Self.halfPastTwo], "\(what)")
            #expect(file.entries.map(\.uid) == ["1"], "\(what)")
        }
    }

    @Test func `escapes in text are resolved, and a summary is split into home and away`() throws {
        let text = event(
            "DTSTART:20261128T143000Z", "SUMMARY:\"Old\\, Town\" FC v K\\\\o\r\n  ln", "LOCATION:A\\nB\\; C")
        let file = try CalendarReader.ics().read(text)
        let value = try #require(file.entries.first?.value)
        #expect(
            ["summary", "home", "away", "location", "x-none"].map(value) == [
                "\"Old, Town\" FC v K\\o ln", "\"Old, Town\" FC", "K\\o ln", "A B; C", nil,
            ])
    }

    @Test func `a value can be read from a named iCalendar property or made by a template`() throws {
        var reading = CalendarReader.ics()
        reading.columns = ["home": "X-HOME", "summary": "{home} ({where})", "where": "LOCATION"]
        let file = try reading.read(event("DTSTART:20261128T143000Z", "X-HOME:Ajax", "LOCATION:Arena"))
        let value = try #require(file.entries.first?.value)
        #expect(["home", "summary", "where"].map(value) == ["Ajax", "Ajax (Arena)", "Arena"])
    }

    @Test(
        arguments: [
            ("DTEND:20261128T160000Z", 5_400), ("DTEND;TZID=Europe/Vienna:20261128T170000", 5_400),
            ("DURATION:PT1H30M", 5_400), ("DURATION:P1DT1S", 86_401), ("SUMMARY:none", nil),
        ] as [(String, Int?)])
    func `an end is a time, a duration or absent`(line: String, seconds: Int?) throws {
        let file = try CalendarReader.ics().read(event("DTSTART:20261128T143000Z", line))
        #expect(file.entries.first?.endsAt == seconds.map { Self.halfPastTwo + $0 })
        #expect(file.faults == [])
    }

    @Test(arguments: ["DTSTART;VALUE=DATE:20261128", "DTSTART:20261128T000000", "DTSTART:20261128T000000Z"])
    func `a fixture without a time, or at midnight, is a fault unless it is postponed or cancelled`(start: String)
        throws
    {
        let file = try CalendarReader.ics().read(event(start))
        #expect(file.entries.isEmpty && file.faults.map(\.line) == [4])
        for (word, status) in [("TENTATIVE", .postponed), ("CANCELLED", .cancelled)]
            as [(String, CalendarEntry.Status)]
        {
            let file = try CalendarReader.ics().read(event(start, "STATUS:\(word)"))
            #expect(file.entries.map(\.status) == [status] && file.faults.isEmpty)
        }
    }

    /// A wrong line, the number of the line that is reported, and a word of the reason. The other event of the file is
    /// still read.
    @Test(
        arguments: [
            ("RRULE:FREQ=WEEKLY", 5, "RRULE"), ("RDATE:20261129T143000Z", 5, "RDATE"),
            ("RECURRENCE-ID:20261129T143000Z", 5, "RECURRENCE-ID"),
            ("DTEND:20261127T143000Z", 4, "before"), ("DTEND:20261128T143000Z", 4, "when it begins"),
            ("DURATION:PT0S", 4, "when it begins"), ("STATUS:ABGESAGT", 5, "statuses"),
            ("DTEND:20261328T143000Z", 5, "not a time"),
            ("DTEND:tomorrow", 5, "not a time"), ("DTEND:19991231T000000Z", 5, "years"), ("DURATION:PT", 5, "duration"),
            ("DURATION:-PT1H", 5, "duration"), ("DTEND;TZID=Mars/Olympus:20261129T143000", 5, "Mars/Olympus"),
            ("DTEND;TZID=../../etc/passwd:20261129T143000", 5, "no time zone"),
            ("DTEND;TZID=W. Europe Standard Time:20261129T143000", 5, "--time-zone"),
        ])
    func `an entry that cannot be read is a fault of its line, and the others are read`(
        line: String, number: Int, word: String
    ) throws {
        let text = event(
            "DTSTART:20261128T143000Z", line, "END:VEVENT", "BEGIN:VEVENT", "UID:other", "DTSTART:20261128T143000Z")
        let file = try CalendarReader.ics().read(text)
        #expect(file.entries.map(\.uid) == ["other"])
        let fault = try #require(file.faults.first)
        #expect(fault.line == number)
        #expect(fault.detail.contains(word), "\(fault.detail)")
        #expect(fault.uid == "1")
        let without = event("DTSTART:20261128T143000Z").replacing("UID:1", with: "SUMMARY:x")
        #expect(try CalendarReader.ics().read(without).faults.map(\.uid) == [nil])
    }

    @Test(
        arguments: [
            ("", 1, "empty"), ("<html>\n</html>", 1, "property"),
            ("BEGIN:VEVENT\nEND:VEVENT", 1, "VCALENDAR"),
            ("BEGIN:VCALENDAR\nBEGIN:VEVENT\nUID:1\n", 3, "incomplete"),
            ("BEGIN:VCALENDAR\nVERSION:2.0\n", 2, "incomplete"),
            ("BEGIN:VCALENDAR\nBEGIN:VEVENT\nEND:VCALENDAR", 3, "line 2"), ("END:VCALENDAR", 1, "expected BEGIN"),
            ("BEGIN:VCALENDAR\n\nUID\nEND:VCALENDAR", 3, "property"),
            ("BEGIN:VCALENDAR\nUID;X=\"1:1\nEND:VCALENDAR", 2, "property"),
            ("BEGIN:VCALENDAR\nX:" + String(repeating: "x", count: 20_000), 2, "bytes"),
        ])
    func `a file that is not iCalendar is refused, and the error names the line`(text: String, line: Int, word: String)
        throws
    {
        let fault = #expect(throws: CalendarFault.self) { try CalendarReader.ics().read(text) }
        #expect(fault?.line == line)
        #expect(fault?.detail.contains(word) ?? false, "\(fault?.detail ?? "")")
    }

    @Test func `text that is not UTF-8 is refused, and the error names the line`() throws {
        let bytes = Array("BEGIN:VCALENDAR\nX:".utf8) + [0xE4, 0x0A]
        #expect(throws: CalendarFault(line: 2, "This is not UTF-8; save the file as UTF-8.")) {
            try CalendarReader.ics().read(bytes)
        }
        #expect(throws: CalendarFault(line: 1, "The file is UTF-16; save it as UTF-8.")) {
            try CalendarReader.csv().read([0xFF, 0xFE, 0x41, 0x00])
        }
    }

    @Test func `a file with too many events is refused at the first one beyond the limit`() throws {
        let one = "BEGIN:VEVENT\nEND:VEVENT\n"
        let text = "BEGIN:VCALENDAR\n" + String(repeating: one, count: CalendarLimits.entries + 1) + "END:VCALENDAR"
        let fault = #expect(throws: CalendarFault.self) { try CalendarReader.ics().read(text) }
        #expect(fault?.line == 2 + 2 * CalendarLimits.entries)
    }
}

/// A season and its events, in memory. `plan` makes a plan of changes from a calendar file, and `sync` also applies the
/// plan.
struct CalendarWorld {
    /// A time before the seasons of the tests.
    static let summer = Date(timeIntervalSince1970: 1_784_000_000)

    var declaration: CalendarDeclaration
    var events: [EventKey: PresentEvent] = [:]
    var now = Self.summer

    static let audience =
        #"{"bundleId": "com.example.Stadium", "environment": "production", "storagePolicy": "noMessageStored"}"#

    /// A declaration for the calendar `Season.ics` of a league, with these additional members.
    static func ics(_ more: String = "") -> String {
        #"""
        {"season": "bl1", "format": "ics", "timeZone": "Europe/Vienna", "eventKey": "bl1:{uid}", "kind": "match",
         "topics": ["league:bl1", "team:{home}", "team:{away}"], "audiences": [\#(audience)]\#(more)}
        """#
    }

    /// A declaration whose event keys have the names of both teams.
    static let byTeams = ics().replacing("bl1:{uid}", with: "bl1:{home}-{away}")

    /// A declaration for the calendar `Season.csv` of the same season, with the same event keys and topics as `ics`.
    static let csv = #"""
        {"season": "bl1", "format": "csv", "eventKey": "bl1:{uid}", "kind": "match", "defaultDuration": 6300,
         "topics": ["league:bl1", "team:{home}", "team:{away}"], "audiences": [\#(audience)],
         "columns": {"uid": "id", "startsAt": "{date} {time}", "timeZone": "zone", "status": "state", "home": "Team 1",
                     "away": "Team 2", "summary": "{home} – {away}", "endsAt": null}}
        """#

    static func declaration(_ text: String) throws -> CalendarDeclaration {
        try CalendarDeclaration(JSONValue(parsing: Array(text.utf8)))
    }

    init(_ text: String = Self.ics()) throws { declaration = try Self.declaration(text) }

    /// The season's event of a fixture.
    func event(_ fixture: Season.Fixture) throws -> PresentEvent {
        try #require(events.values.first { $0.note?.season == declaration.season && $0.note?.uid == fixture.uid })
    }

    func plan(_ file: [UInt8], acceptsRemovals: Bool = false) throws -> CalendarPlan {
        let request = try CalendarPlan.Entries(file, declaration, acceptsManyRemovals: acceptsRemovals)
        return CalendarPlan(request, events, now: now)
    }

    /// Applies a plan, as the command does with the API.
    @discardableResult
    mutating func sync(_ file: [UInt8], acceptsRemovals: Bool = false) throws -> CalendarPlan {
        let plan = try plan(file, acceptsRemovals: acceptsRemovals)
        for write in plan.create + plan.change + plan.notes { try put(write.key, write.document) }
        for cancellation in plan.cancel {
            try put(cancellation.key, cancellation.document)
            set(.cancelled, cancellation.key)
        }
        return plan
    }

    /// A world some time after the first sync of its season.
    static func synced(_ form: CalendarPlanTests.Form = .ics) throws -> (CalendarWorld, Season) {
        var world = try form.world()
        let season = Season()
        #expect(try world.sync(form.file(season)).numbers == [380, 0, 0, 0, 0])
        world.now += 3_600
        return (world, season)
    }

    /// Declares an event, as PUT does.
    mutating func put(_ key: EventKey, _ document: JSONDraft) throws {
        let shown = JSONDraft(declaring: try document.declaration())
        events[key] = PresentEvent(
            key: key, document: shown, state: events[key]?.state == .live ? .live : .scheduled,
            reopenedAt: events[key]?.reopenedAt, note: SeasonNote(metadata: shown["metadata"]))
    }

    mutating func set(_ state: Contract.EventState, _ key: EventKey) { events[key]?.state = state }

    /// Reopens an event, as a person would.
    mutating func reopen(_ fixture: Season.Fixture) throws {
        let key = try event(fixture).key
        set(.scheduled, key)
        events[key]?.reopenedAt = RFC3339.text(now)
    }

    /// Changes an event's declaration, as a person would.
    mutating func edit(_ fixture: Season.Fixture, _ change: (inout JSONDraft) -> Void) throws {
        let event = try event(fixture)
        var document = event.document
        change(&document)
        try put(event.key, document)
    }

    func draft(_ fixture: Season.Fixture) throws -> Contract.EventDraft { try event(fixture).document.declaration() }
}

extension CalendarPlan {
    /// Whether there is nothing to write.
    var isEmpty: Bool { (create + change + cancel + notes).isEmpty }

    /// The numbers of created, changed, cancelled and unchanged events, and of problems.
    var numbers: [Int] { [create.count, change.count, cancel.count, unchanged, problems.count] }
}
