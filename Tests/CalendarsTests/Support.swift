internal import Calendars
internal import Foundation

extension CalendarReading {
    static func ics(_ names: Set<String> = ["summary", "home", "away"], timeZone: String? = nil) -> CalendarReading {
        CalendarReading(format: .ics, timeZone: timeZone.flatMap(TimeZone.named), names: names)
    }

    static func csv(
        _ columns: [String: String] = [:], _ pattern: DatePattern = .iso, names: Set<String> = ["summary"],
        timeZone: String? = nil
    ) -> CalendarReading {
        CalendarReading(
            format: .csv, columns: columns, datePattern: pattern, timeZone: timeZone.flatMap(TimeZone.named),
            names: names)
    }

    func read(_ text: String) throws(CalendarFault) -> CalendarFile { try read(Array(text.utf8)) }

    /// The columns of `Season.csv`.
    static let season = csv(
        [
            "uid": "id", "startsAt": "{date} {time}", "timeZone": "zone", "status": "state", "home": "Team 1",
            "away": "Team 2", "summary": "{home} – {away}",
        ], names: ["summary", "home", "away"])
}

/// A calendar with one event that has these lines.
func event(_ lines: String..., before: [String] = []) -> String {
    (["BEGIN:VCALENDAR"] + before + ["BEGIN:VEVENT", "UID:1"] + lines + ["END:VEVENT", "END:VCALENDAR", ""])
        .joined(separator: "\r\n")
}

/// Random numbers that are the same in each run (SplitMix64).
struct Seeded: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
