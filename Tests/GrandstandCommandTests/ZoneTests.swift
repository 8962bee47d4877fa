internal import Foundation
internal import GrandstandTestKit
internal import Testing

@testable internal import GrandstandCommand

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

    /// How many times as long reading a file takes as reading another one.
    private static func ratio(_ file: [UInt8], to plain: [UInt8], _ reading: CalendarReading) throws -> Double {
        let times: [Duration] = try [file, plain].map { bytes in
            try (0..<3).map { _ in try processorTime { _ = try reading.read(bytes) } }.min() ?? .zero
        }
        return times[0] / times[1]
    }

    /// A calendar with this many entries.
    private static func calendar(_ count: Int, before lines: [String] = [], zone: (Int) -> String) -> [UInt8] {
        let entries = (1...count).flatMap { number in
            ["BEGIN:VEVENT", "UID:\(number)", "DTSTART;TZID=\(zone(number)):20261128T153000", "END:VEVENT"]
        }
        return Array((["BEGIN:VCALENDAR"] + lines + entries + ["END:VCALENDAR"]).joined(separator: "\n").utf8)
    }

    /// A VTIMEZONE with 220,000 dates, used by 5,000 entries. Its rules are never read, because that would take some
    /// hundred times as long as the entries.
    @Test(arguments: [false, true])
    func `a huge definition of a time zone is not read`(isKnown: Bool) throws {
        let zone = isKnown ? "Europe/Vienna" : "x"
        let dates = "RDATE:" + Array(repeating: "19700101T000", count: 1_000).joined(separator: ",")
        let definition =
            ["BEGIN:VTIMEZONE", "TZID:\(zone)", "BEGIN:STANDARD"] + Array(repeating: dates, count: 220)
            + ["END:STANDARD", "END:VTIMEZONE"]
        let text = Self.calendar(5_000, before: definition) { _ in zone }
        let plain = Self.calendar(5_000) { _ in zone }
        #expect(try Self.ratio(text, to: plain, .ics()) < 50)
        let file = try CalendarReading.ics().read(text)
        #expect(file.entries.count == (isKnown ? 5_000 : 0))
        #expect(file.faults.count == (isKnown ? 0 : 5_000))
        #expect(file.faults.first?.line ?? 229 == 229)
    }

    /// Each entry has a different unknown time zone.
    @Test func `5,000 unknown names of time zones are faults of their lines, in a time that grows with their number`()
        throws
    {
        let text = Self.calendar(5_000) { "Mars/A\($0)" }
        #expect(try CalendarReading.ics().read(text).faults.map(\.line) == (1...5_000).map { $0 * 4 })
        #expect(try Self.ratio(text, to: Self.calendar(500) { "Mars/A\($0)" }, .ics()) < 40)
    }

    @Test(arguments: [CalendarReading.Format.ics, .csv])
    func `5,000 entries are read in a time that grows with their number`(format: CalendarReading.Format) throws {
        let fixtures = (0..<14).flatMap { Season(league: "l\($0)").fixtures }
        func file(_ count: Int) -> [UInt8] {
            var season = Season()
            season.fixtures = Array(fixtures.prefix(count))
            return format == .ics ? season.ics() : season.csv()
        }
        let reading = format == .ics ? CalendarReading.ics() : .season
        #expect(try reading.read(file(5_000)).entries.count == 5_000)
        #expect(try Self.ratio(file(5_000), to: file(500), reading) < 40)
    }
}
