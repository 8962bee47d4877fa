internal import Foundation
internal import GrandstandTestKit
internal import Testing

@testable internal import GrandstandCommand

/// CSV in the forms that spreadsheets write.
struct CSVTests {
    private static let halfPastTwo = 1_795_876_200

    private static let mapped = [
        "uid": "Nr", "startsAt": "{Tag} {Zeit}", "home": "Heim", "away": "Gast", "summary": "{home} – {away}",
    ]

    /// What is special, the text, and how it is read if not in Vienna's time.
    static let forms: [(what: String, text: String, reading: CalendarReader?)] = [
        ("commas", "uid,startsAt,summary\n1,2026-11-28T14:30:00Z,A – B\n", nil),
        ("another order", "summary,x,startsAt,uid\nA – B,,2026-11-28 15:30,1", nil),
        ("semicolons", "uid;startsAt;summary\r\n1;2026-11-28T15:30:00+01:00;A – B\r\n", nil),
        ("tabs", "uid\tstartsAt\tsummary\r1\t20261128T143000Z\tA – B", nil),
        (
            "a mark and quotes", "\u{FEFF}\"uid\", \"startsAt\" ,\"summary\"\n\"1\",\"2026-11-28 15:30\",\"A – B\"",
            nil
        ),
        ("Excel", "sep=;\nuid;startsAt;summary\n1;2026-11-28 15:30;A – B\n", nil),
        ("a comma in a header of semicolons", "uid;startsAt;summary;\"a,b,c,d,e\"\n1;2026-11-28 15:30;A – B", nil),
        ("empty records", "\n\nuid,startsAt,summary\n\n,,\n1,2026-11-28 15:30,A – B\n\n", nil),
        (
            "columns of other names", "Nr;Tag;Zeit;Heim;Gast\n1;28.11.2026;15:30;A;B",
            .csv(mapped, isDayMonthYear: true, timeZone: "Europe/Vienna")
        ),
        (
            "short days", "uid,startsAt,summary\n1,28/11/26 15:30,A – B",
            .csv(isDayMonthYear: true, timeZone: "Europe/Vienna")
        ),
        ("a zone for each", "uid,startsAt,summary,timeZone\n1,2026-11-28 23:30,A – B,Asia/Tokyo", nil),
    ]

    @Test func `a record is the same in every form of CSV`() throws {
        for (what, text, reading) in Self.forms {
            let file = try (reading ?? .csv(timeZone: "Europe/Vienna")).read(text)
            #expect(file.faults == [], "\(what)")
            #expect(file.entries.map(\.startsAt) == [Self.halfPastTwo], "\(what)")
            #expect(file.entries.map { [$0.uid, $0.value("summary")] } == [["1", "A – B"]], "\(what)")
        }
    }

    @Test func `a quoted field may contain separators, quotation marks and lines`() throws {
        let file = try CalendarReader.csv().read(
            "uid,summary,startsAt\n1,\"A, \"\"B\"\"\nC\",2026-11-28T14:30Z\n2,x \"y\" z,2026-11-28T14:30Z\n")
        #expect(file.entries.map { $0.value("summary") } == ["A, \"B\" C", "x \"y\" z"])
        #expect(file.entries.map(\.line) == [2, 4])
    }

    @Test func `an end and a status are read, and a zero length or an unknown status is a fault`() throws {
        let file = try CalendarReader.csv().read(
            """
            uid,startsAt,endsAt,status
            1,2026-11-28T14:30Z,2026-11-28T16:30Z,Canceled
            2,2026-11-28T14:30Z,2026-11-28T14:30Z,
            3,2026-11-28T14:30Z,,Abgesagt
            4,2026-11-28,,Postponed
            5,2026-11-28 TBD,,
            6,,,CANCELLED
            """)
        #expect(file.entries.map(\.status) == [.cancelled, .postponed, .postponed, .cancelled])
        #expect(file.entries.first?.endsAt == Self.halfPastTwo + 7_200)
        #expect(file.faults.map(\.line) == [3, 4])
        #expect(file.faults.last?.detail.contains("statuses") == true)
    }

    @Test(
        arguments: [
            ("1,2026-11-28T14:30Z,x,y", "fields", "1"), (",2026-11-28T14:30Z,x", "no UID", nil),
            ("1,,x", "noTime", "1"), ("1,2026-11-28,x", "noTime", "1"),
            ("1,2026-11-28 00:00,x", "midnight", "1"), ("1,28.11.2026,x", "datePattern", "1"),
            ("1,2026-02-30,x", "not a time", "1"),
            ("1,2026-11-28T14:60Z,x", "not a time", "1"), ("1,2026-11-28T14:30+25:00,x", "not a time", "1"),
        ] as [(String, String, String?)])
    func `a record that cannot be read is a fault of its line, and the others are read`(
        record: String, word: String, uid: String?
    ) throws {
        let file = try CalendarReader.csv().read("uid,startsAt,summary\n\n\(record)\n2,2026-11-28T14:30Z,z\n")
        #expect(file.entries.map(\.uid) == ["2"])
        #expect(file.faults.map(\.line) == [3])
        #expect(file.faults.first?.detail.contains(word) ?? false, "\(file.faults)")
        #expect(file.faults.map(\.uid) == [uid])
    }

    @Test func `midnight is that of the plan's zone`() throws {
        var reading = CalendarReader.csv()
        reading.timeZone = TimeZone(identifier: "America/New_York")
        let file = try reading.read("uid,startsAt\n1,2026-11-28T05:00Z\n2,2026-11-28T00:00Z\n")
        #expect(file.entries.map(\.uid) == ["2"] && file.faults.map(\.uid) == ["1"])
    }

    @Test func `of two records with the same UID the first is used`() throws {
        let file = try CalendarReader.csv().read("uid,startsAt\n1,2026-11-28T14:30Z\n1,2026-11-29T14:30Z\n")
        #expect(file.entries.map(\.line) == [2])
        #expect(file.faults.map(\.line) == [3])
        #expect(file.faults.map(\.uid) == ["1"])
    }

    @Test(
        arguments: [
            ("", 1, "empty"), ("uid,startsAt\n1,\"x\n\n\n", 2, "is not closed"),
            ("uid,startsAt\n1,\"x\"y\n", 2, "closing quotation mark"), ("Nr,Tag\n1,x\n", 1, "“Nr”"),
            ("uid\n\"" + String(repeating: "x\n", count: 20_000), 2, "is not closed"),
            ("uid,startsAt\n" + String(repeating: "1,2\n", count: 5_001), 5_002, "5000 entries"),
        ])
    func `a file that is not CSV is refused, and the error names the line`(text: String, line: Int, word: String) throws
    {
        let reading = CalendarReader.csv(text.hasPrefix("Nr") ? ["uid": "id"] : [:])
        let fault = #expect(throws: CalendarFault.self) { try reading.read(text) }
        #expect(fault?.line == line)
        #expect(fault?.detail.contains(word) ?? false, "\(fault?.detail ?? "")")
    }

    @Test(
        arguments: [
            ("{a}–{b}", "1–2"), ("{{{a}}}", "{1}"), ("no names", "no names"), ("{c}", nil), ("{", nil), ("a}", nil),
            ("{}", nil), ("{a{b}", nil),
        ] as [(String, String?)])
    func `a template is filled in, or refused if it is invalid`(text: String, filled: String?) {
        #expect(Template(text)?.filled { ["a": "1", "b": "2"][$0] } == filled)
    }
}

extension CalendarReader {
    static func ics(timeZone: String? = nil) -> CalendarReader {
        CalendarReader(format: .ics, timeZone: timeZone.flatMap(TimeZone.named))
    }

    static func csv(
        _ columns: [String: String] = [:], isDayMonthYear: Bool = false, timeZone: String? = nil
    ) -> CalendarReader {
        CalendarReader(
            format: .csv, columns: columns, isDayMonthYear: isDayMonthYear, timeZone: timeZone.flatMap(TimeZone.named))
    }

    func read(_ text: String) throws(CalendarFault) -> (entries: [CalendarEntry], faults: [CalendarFault]) {
        try read(Array(text.utf8))
    }

    /// The columns of `Season.csv`.
    static let season = csv(
        [
            "uid": "id", "startsAt": "{date} {time}", "timeZone": "zone", "status": "state", "home": "Team 1",
            "away": "Team 2", "summary": "{home} – {away}",
        ])
}

/// A calendar with one event that has these lines.
func event(_ lines: String..., before: [String] = []) -> String {
    (["BEGIN:VCALENDAR"] + before + ["BEGIN:VEVENT", "UID:1"] + lines + ["END:VEVENT", "END:VCALENDAR", ""])
        .joined(separator: "\r\n")
}

/// Local times.
struct ZoneTests {
    @Test func `a time that a clock skips or shows twice is one instant`() throws {
        let zone = try #require(TimeZone.named("Europe/Vienna"))
        // 2026-03-29T02:30 is skipped. It counts as half an hour after the change, which is at 01:00Z.
        #expect(zone.instant(local: 1_774_751_400) == 1_774_746_000 + 1_800)
        // 2026-10-25T02:30 occurs twice. The first is 00:30Z.
        #expect(zone.instant(local: 1_792_895_400) == 1_792_888_200)
    }

    @Test(arguments: ["", "Mars/Olympus", "../../etc/passwd", "/etc/localtime", "W. Europe Standard Time"])
    func `names that are not time zones are refused`(name: String) { #expect(TimeZone.named(name) == nil) }
}

/// Damaged files of a season. `CalendarPlanTests` read whole ones.
struct SeasonTests {
    private static let marks = "\";:,{}\\=\r\n \t/TZ0919-+.".utf8.map { [$0] } + [[0x00], [0xC3], [0xFF], [0xEF]]

    @Test(arguments: [CalendarReader.Format.ics, .csv], 0..<8 as Range<UInt64>)
    func `a damaged file is read, or refused with a line number`(format: CalendarReader.Format, seed: UInt64) {
        var random = SplitMix(seed: seed)
        var season = Season()
        season.fixtures = Array(season.fixtures.prefix(12))
        let whole = format == .ics ? season.ics() : season.csv()
        let reading = format == .ics ? CalendarReader.ics() : .season
        for _ in 0..<150 {
            var bytes = whole
            for _ in 0..<Int.random(in: 1...6, using: &random) { bytes.damage(with: Self.marks, using: &random) }
            let lines = bytes.count { $0 == 0x0A || $0 == 0x0D } + 1
            do throws(CalendarFault) {
                let file = try reading.read(bytes)
                #expect(file.entries.count + file.faults.count <= lines)
                #expect(file.faults.allSatisfy { (1...lines).contains($0.line ?? 0) && $0.detail.utf8.count < 4_000 })
                #expect(file.entries.allSatisfy { (1...lines).contains($0.line) && !$0.uid.isEmpty })
            } catch {
                #expect((1...lines).contains(error.line ?? 0))
                #expect(error.detail.utf8.count < 4_000)
            }
        }
    }
}
