internal import Foundation
internal import Grandstand
internal import Testing

@testable internal import GrandstandCommand
@testable internal import GrandstandServer

/// An organiser's plan file.
struct CalendarDeclarationTests {
    private static func draft(
        _ text: String, _ values: [String: String] = ["summary": "A – B", "home": "A", "away": "B"], uid: String = "1"
    ) throws -> CalendarDraft {
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
        let event = try draft.document.declaration(of: draft.key)
        #expect(EventDocument(of: event)["start"] != nil)
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
