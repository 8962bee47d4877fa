internal import Foundation
internal import Testing

@testable internal import Calendars

/// Time zones of the system and of files.
struct ZoneTests {
    @Test(
        arguments: [
            "Europe/Vienna", "Europe/London", "America/New_York", "America/Sao_Paulo", "Australia/Sydney",
            "Asia/Kolkata", "Africa/Casablanca", "Etc/GMT+5", "America/Santiago", "Asia/Jerusalem", "UTC",
        ])
    func `a zone of the system has the offsets that Foundation knows`(name: String) throws {
        let zone = try #require(systemZone(name))
        let foundation = try #require(TimeZone(identifier: name))
        // Every 31 hours from 2000 to 2037.
        for time in stride(from: 946_684_800, to: 2_114_380_800, by: 31 * 3_600) {
            let expected = foundation.secondsFromGMT(for: Date(timeIntervalSince1970: Double(time)))
            guard zone.offset(at: time) != expected else { continue }
            Issue.record("\(name) at \(time): \(zone.offset(at: time)), not \(expected)")
            return
        }
    }

    @Test func `the years beyond a file's list go by its rule`() throws {
        let zone = try #require(systemZone("Europe/Vienna"))
        // 2090-07-01 and 2090-01-01.
        #expect(zone.offset(at: 3_802_550_400) == 7_200)
        #expect(zone.offset(at: 3_786_912_000) == 3_600)
    }

    @Test func `a time that a clock skips or shows twice is one moment`() throws {
        let zone = try #require(systemZone("Europe/Vienna"))
        // 2026-03-29T02:30 is skipped: half an hour after the change, which is at 01:00Z.
        #expect(zone.instant(local: 1_774_751_400) == 1_774_746_000 + 1_800)
        // 2026-10-25T02:30 comes twice: the first is 00:30Z.
        #expect(zone.instant(local: 1_792_895_400) == 1_792_888_200)
    }

    @Test(
        arguments: [
            "EST5EDT,M3.2.0,M11.1.0", "<+0330>-3:30<+0430>,J80/0,264/0", "CET-1CEST,M3.5.0,M10.5.0/3", "<-03>3",
            "IST-2IDT,M3.4.4/26,M10.5.0",
        ])
    func `rules as POSIX has them are read`(text: String) { #expect(YearlyZone(text) != nil) }

    @Test(arguments: [
        "", "CE-1", "CET", "CET-1CEST,M13.5.0,M10.5.0", "CET-1CEST,M3.5.0", "CET-1CEST,M3.5.0,M10.5.0,", "<CET-1",
    ])
    func `rules that are none are refused`(text: String) { #expect(YearlyZone(text) == nil) }

    @Test func `a file that is cut off anywhere is refused or read`() throws {
        let file = try #require(FileManager.default.contents(atPath: "/usr/share/zoneinfo/Europe/Vienna"))
        #expect(ZoneRules(file: []) == nil)
        for length in stride(from: 1, to: file.count, by: 7) { _ = ZoneRules(file: Array(file.prefix(length))) }
    }

    @Test(
        arguments: [
            "FREQ=YEARLY;BYMONTH=3;BYDAY=-1SU", "FREQ=YEARLY;BYDAY=-1SU;BYMONTH=3;INTERVAL=1;WKST=MO",
            "FREQ=YEARLY;BYMONTH=3;BYMONTHDAY=25,26,27,28,29,30,31;BYDAY=SU",
            "FREQ=YEARLY;COUNT=500;BYMONTH=3;BYDAY=-1SU",
            "FREQ=YEARLY;UNTIL=20991231T000000Z;BYMONTH=3;BYDAY=-1SU",
        ])
    func `a definition's rule has the days of the system's`(rule: String) throws {
        let system = try #require(systemZone("Europe/Vienna"))
        let text = event(
            "DTSTART;TZID=x:20260601T120000",
            before: [
                "BEGIN:VTIMEZONE", "TZID:x", "BEGIN:DAYLIGHT", "DTSTART:19810329T020000", "TZOFFSETFROM:+0100",
                "TZOFFSETTO:+0200", "RRULE:\(rule)", "END:DAYLIGHT", "BEGIN:STANDARD", "DTSTART:19961027T030000",
                "TZOFFSETFROM:+0200", "TZOFFSETTO:+0100", "RRULE:FREQ=YEARLY;BYMONTH=10;BYDAY=-1SU", "END:STANDARD",
                "END:VTIMEZONE",
            ])
        let calendar = try #require(try Component.calendars(Array(text.utf8)).first)
        let zone = try ZoneRules(try #require(calendar.components.first))
        for day in 11_000..<30_000 { #expect(zone.offset(at: day * 86_400) == system.offset(at: day * 86_400)) }
    }

    @Test(
        arguments: [
            "FREQ=MONTHLY", "BYMONTH=3;BYDAY=-1SU", "FREQ=YEARLY;BYDAY=9SU", "FREQ=YEARLY;BYSETPOS=1", "x",
            "FREQ=YEARLY;BYMONTH=3;BYDAY=-9223372036854775808SU",
        ])
    func `a definition's rule of another kind is told by its line`(rule: String) throws {
        let text = event(
            "DTSTART;TZID=x:20260601T120000",
            before: [
                "BEGIN:VTIMEZONE", "TZID:x", "BEGIN:DAYLIGHT", "DTSTART:19810329T020000", "TZOFFSETFROM:+0100",
                "TZOFFSETTO:+0200", "RRULE:\(rule)", "END:DAYLIGHT", "END:VTIMEZONE",
            ])
        #expect(try CalendarReading.ics().read(text).faults.map(\.line) == [8])
    }
}
