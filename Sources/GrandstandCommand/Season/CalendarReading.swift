internal import Foundation

/// How a calendar's text becomes entries: the organiser's settings and the time zones.
struct CalendarReading: Sendable {
    enum Format: String, Sendable {
        case ics
        case csv
    }

    var format: Format
    /// Where each value comes from, by the value's name: a CSV column, an iCalendar property or a template. An empty
    /// text: the name has no value.
    var columns: [String: String] = [:]
    /// Whether dates in a CSV file may also be written like `28.11.2026`. ISO 8601 is always accepted.
    var isDayMonthYear = false
    /// The time zone for times that have none; `nil`: the file's time zone, or else UTC.
    var timeZone: TimeZone?
    /// The time zone for times whose zone is missing or unknown on this machine. It takes precedence over `timeZone`.
    /// `nil`: an unknown zone is a fault.
    var fallback: TimeZone?

    /// The plan's words of `status`, in lower case. They take precedence over `words`.
    var statuses: [String: CalendarEntry.Status] = [:]
    /// Whether an entry without a time of day is postponed, instead of a fault.
    var postponesWithoutTime = false
    /// Whether a start at 00:00 is a time, not an unknown one.
    var acceptsMidnight = false

    /// The value of a name; `nil`: there is none.
    ///
    /// - Parameter raw: the value of a column or property; `nil`: it does not exist.
    func value(_ name: String, depth: Int = 0, _ raw: (String) -> String?) -> String? {
        guard depth < 5 else { return nil }
        if let column = columns[name] {
            guard column.contains("{") || column.contains("}") else { return column.isEmpty ? nil : raw(column) }
            return Template(column)?.filled { $0 == name ? raw($0) : value($0, depth: depth + 1, raw) }
        }
        if let value = raw(name) { return value }
        guard name == "home" || name == "away", let summary = value("summary", depth: depth + 1, raw) else {
            return nil
        }
        return Self.sides(of: summary).map { name == "home" ? $0.home : $0.away }
    }

    /// Both sides of `A – B`; `nil`: the text does not name two sides.
    static func sides(of summary: String) -> (home: String, away: String)? {
        for separator in [" – ", " — ", " - ", " vs. ", " vs ", " v. ", " v ", " : "] {
            let parts = summary.split(separator: separator, omittingEmptySubsequences: false).map(\.trimmed)
            if parts.count == 2, parts.allSatisfy({ !$0.isEmpty }) { return (parts[0], parts[1]) }
        }
        return nil
    }
}

extension StringProtocol {
    /// Without white space at its ends.
    var trimmed: String {
        let isSpace: (Character) -> Bool = { $0 == " " || $0 == "\t" || $0 == "\u{A0}" }
        guard let first = firstIndex(where: { !isSpace($0) }), let last = lastIndex(where: { !isSpace($0) }) else {
            return ""
        }
        return String(self[first...last])
    }
}
