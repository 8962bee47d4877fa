/// The organiser's own name for a calendar: a league, a cup.
package struct CalendarName: RawRepresentable, Sendable, Hashable, CustomStringConvertible {
    package let rawValue: String

    /// Accepts 1 to 64 of what an event key accepts; `nil` for anything else.
    package init?(rawValue: String) {
        guard EventKey(rawValue: rawValue) != nil, rawValue.utf8.count <= 64 else { return nil }
        self.rawValue = rawValue
    }

    /// The rule of the alphabet, for refusals.
    package static let rule = "A calendar's name is 1 to 64 of A-Z a-z 0-9 . _ : and -."

    package var description: String { rawValue }
}

extension Problem {
    package static func calendarNotFound(_ name: CalendarName) -> Problem {
        Problem(.calendarNotFound, "There is no calendar \(name). Declare it with PUT /v1/calendars/\(name).")
    }
}
