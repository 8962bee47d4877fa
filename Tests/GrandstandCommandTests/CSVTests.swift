internal import Foundation
internal import Testing

@testable internal import GrandstandCommand

/// CSV in the forms that spreadsheets write.
struct CSVTests {
    private static let halfPastTwo = 1_795_876_200

    struct Form: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let text: String
        let reading: CalendarReading

        init(_ description: String, _ text: String, reading: CalendarReading = .csv(timeZone: "Europe/Vienna")) {
            (testDescription, self.text, self.reading) = (description, text, reading)
        }
    }

    private static let mapped = [
        "uid": "Nr", "startsAt": "{Tag} {Zeit}", "home": "Heim", "away": "Gast", "summary": "{home} – {away}",
    ]

    static let forms = [
        Form("commas", "uid,startsAt,summary\n1,2026-11-28T14:30:00Z,A – B\n"),
        Form("another order", "summary,x,startsAt,uid\nA – B,,2026-11-28 15:30,1"),
        Form("semicolons", "uid;startsAt;summary\r\n1;2026-11-28T15:30:00+01:00;A – B\r\n"),
        Form("tabs", "uid\tstartsAt\tsummary\r1\t20261128T143000Z\tA – B"),
        Form("a mark and quotes", "\u{FEFF}\"uid\", \"startsAt\" ,\"summary\"\n\"1\",\"2026-11-28 15:30\",\"A – B\""),
        Form("Excel", "sep=;\nuid;startsAt;summary\n1;2026-11-28 15:30;A – B\n"),
        Form("a comma in a header of semicolons", "uid;startsAt;summary;\"a,b,c,d,e\"\n1;2026-11-28 15:30;A – B"),
        Form("empty records", "\n\nuid,startsAt,summary\n\n,,\n1,2026-11-28 15:30,A – B\n\n"),
        Form(
            "columns of other names", "Nr;Tag;Zeit;Heim;Gast\n1;28.11.2026;15:30;A;B",
            reading: .csv(mapped, isDayMonthYear: true, timeZone: "Europe/Vienna")),
        Form(
            "short days", "uid,startsAt,summary\n1,28/11/26 15:30,A – B",
            reading: .csv(isDayMonthYear: true, timeZone: "Europe/Vienna")),
        Form("a zone for each", "uid,startsAt,summary,timeZone\n1,2026-11-28 23:30,A – B,Asia/Tokyo"),
    ]

    @Test(arguments: forms)
    func `a record is the same in every form of CSV`(form: Form) throws {
        let file = try form.reading.read(form.text)
        #expect(file.faults == [])
        #expect(file.entries.map(\.startsAt) == [Self.halfPastTwo])
        #expect(file.entries.map(\.uid) == ["1"])
        #expect(file.entries.map { $0.value("summary") } == ["A – B"])
    }

    @Test func `a quoted field may contain separators, quotation marks and lines`() throws {
        let file = try CalendarReading.csv().read(
            "uid,summary,startsAt\n1,\"A, \"\"B\"\"\nC\",2026-11-28T14:30Z\n2,x \"y\" z,2026-11-28T14:30Z\n")
        #expect(file.entries.map { $0.value("summary") } == ["A, \"B\" C", "x \"y\" z"])
        #expect(file.entries.map(\.line) == [2, 4])
    }

    @Test func `an end and a status are read, and a zero length or an unknown status is a fault`() throws {
        let file = try CalendarReading.csv().read(
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
        let file = try CalendarReading.csv().read("uid,startsAt,summary\n\n\(record)\n2,2026-11-28T14:30Z,z\n")
        #expect(file.entries.map(\.uid) == ["2"])
        #expect(file.faults.map(\.line) == [3])
        #expect(file.faults.first?.detail.contains(word) ?? false, "\(file.faults)")
        #expect(file.faults.map(\.uid) == [uid])
    }

    @Test func `midnight is that of the plan's zone`() throws {
        var reading = CalendarReading.csv()
        reading.timeZone = TimeZone(identifier: "America/New_York")
        let file = try reading.read("uid,startsAt\n1,2026-11-28T05:00Z\n2,2026-11-28T00:00Z\n")
        #expect(file.entries.map(\.uid) == ["2"] && file.faults.map(\.uid) == ["1"])
    }

    @Test func `of two records with the same UID the first is used`() throws {
        let file = try CalendarReading.csv().read("uid,startsAt\n1,2026-11-28T14:30Z\n1,2026-11-29T14:30Z\n")
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
        let reading = CalendarReading.csv(text.hasPrefix("Nr") ? ["uid": "id"] : [:])
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
