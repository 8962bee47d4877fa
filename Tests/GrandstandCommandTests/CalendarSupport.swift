internal import Foundation

@testable internal import GrandstandCommand

extension CalendarReading {
    static func ics(timeZone: String? = nil) -> CalendarReading {
        CalendarReading(format: .ics, timeZone: timeZone.flatMap(TimeZone.named))
    }

    static func csv(
        _ columns: [String: String] = [:], isDayMonthYear: Bool = false, timeZone: String? = nil
    ) -> CalendarReading {
        CalendarReading(
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
