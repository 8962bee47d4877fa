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
