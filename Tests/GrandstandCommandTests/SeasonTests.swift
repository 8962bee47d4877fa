internal import GrandstandTestKit
internal import Testing

@testable internal import GrandstandCommand

/// Damaged files of a season. `CalendarPlanTests` read whole ones.
struct SeasonTests {
    @Test(arguments: [CalendarReading.Format.ics, .csv], 0..<8 as Range<UInt64>)
    func `a damaged file is read, or refused with a line number`(format: CalendarReading.Format, seed: UInt64) {
        var random = SplitMix(seed: seed)
        var season = Season()
        season.fixtures = Array(season.fixtures.prefix(12))
        let whole = format == .ics ? season.ics() : season.csv()
        let reading = format == .ics ? CalendarReading.ics() : .season
        for _ in 0..<150 {
            let bytes = Self.broken(whole, &random)
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

    /// The file with some bytes changed, removed, doubled or moved.
    private static func broken(_ bytes: [UInt8], _ random: inout SplitMix) -> [UInt8] {
        var bytes = bytes
        let marks = Array("\";:,{}\\=\r\n \t/TZ0919-+.".utf8) + [0x00, 0xC3, 0xFF, 0xEF]
        for _ in 0..<Int.random(in: 1...6, using: &random) {
            guard !bytes.isEmpty else { return bytes }
            let place = Int.random(in: 0..<bytes.count, using: &random)
            let length = min(Int.random(in: 1...80, using: &random), bytes.count - place)
            switch Int.random(in: 0..<6, using: &random) {
            case 0: bytes[place] = marks.randomElement(using: &random) ?? 0
            case 1: bytes.insert(marks.randomElement(using: &random) ?? 0, at: place)
            case 2: bytes.removeSubrange(place..<(place + length))
            case 3: bytes.insert(contentsOf: bytes[place..<(place + length)], at: place)
            case 4: bytes[place] = UInt8.random(in: 0...255, using: &random)
            default: bytes.removeSubrange(place...)
            }
        }
        return bytes
    }
}
