internal import Foundation
internal import GrandstandTestKit
internal import Testing

@testable internal import Calendars

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

    /// A VTIMEZONE with 220,000 dates, used by 5,000 entries. Its rules are never read, because that would take
    /// minutes.
    @Test(arguments: [false, true])
    func `a huge definition of a time zone is not read`(isKnown: Bool) throws {
        let zone = isKnown ? "Europe/Vienna" : "x"
        var lines = ["BEGIN:VCALENDAR", "BEGIN:VTIMEZONE", "TZID:\(zone)", "BEGIN:STANDARD"]
        for _ in 0..<220 {
            lines.append("RDATE:" + Array(repeating: "19700101T000", count: 1_000).joined(separator: ","))
        }
        lines += ["END:STANDARD", "END:VTIMEZONE"]
        for number in 1...5_000 {
            lines += ["BEGIN:VEVENT", "UID:\(number)", "DTSTART;TZID=\(zone):20261128T153000", "END:VEVENT"]
        }
        lines.append("END:VCALENDAR")
        let text = Array(lines.joined(separator: "\n").utf8)
        var file: CalendarFile?
        let time = try processorTime { file = try CalendarReading.ics().read(text) }
        #expect(time < .seconds(1) * Self.slowness, "\(time)")
        #expect(file?.entries.count == (isKnown ? 5_000 : 0))
        #expect(file?.faults.count == (isKnown ? 0 : 5_000))
        #expect(file?.faults.first?.line ?? 229 == 229)
    }

    /// Each entry has a different unknown time zone.
    @Test func `5,000 unknown names of time zones are faults of their lines`() throws {
        var lines = ["BEGIN:VCALENDAR"]
        for number in 1...5_000 {
            lines += ["BEGIN:VEVENT", "UID:\(number)", "DTSTART;TZID=Mars/A\(number):20261128T153000", "END:VEVENT"]
        }
        lines.append("END:VCALENDAR")
        let text = Array(lines.joined(separator: "\n").utf8)
        var file: CalendarFile?
        let time = try processorTime { file = try CalendarReading.ics().read(text) }
        #expect(time < .seconds(1) * Self.slowness, "\(time)")
        #expect(file?.faults.map(\.line) == (1...5_000).map { $0 * 4 })
    }

    @Test(arguments: [CalendarReading.Format.ics, .csv])
    func `5,000 entries are read in under a second`(format: CalendarReading.Format) throws {
        var season = Season()
        season.fixtures = (0..<14).flatMap { Season(league: "l\($0)").fixtures }.prefix(5_000).map { $0 }
        let text = format == .ics ? season.ics() : season.csv()
        let reading = format == .ics ? CalendarReading.ics() : .season
        var file: CalendarFile?
        let time = try processorTime { file = try reading.read(text) }
        #expect(time < .seconds(1) * Self.slowness, "\(time)")
        #expect(file?.entries.count == 5_000)
    }

    /// A build without optimisation takes about this many times as long.
    private static let slowness = 5.0
}
