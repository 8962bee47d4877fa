internal import JSON

/// One fixture of a calendar.
struct CalendarEntry: Sendable {
    /// The number of its first line, from 1.
    var line: Int
    var uid: String
    /// Seconds since 1970; `nil`: the time is unknown, and the entry is not `scheduled`.
    var startsAt: Int?
    /// `nil`: the calendar has none.
    var endsAt: Int?
    var status = Status.scheduled
    /// If two entries have the same UID, the one with the higher number is newer.
    var sequence = 0
    /// The value of a name that a template uses; `nil`: there is none.
    var value: @Sendable (String) -> String?

    enum Status: String, CaseIterable, Sendable {
        case scheduled
        /// The fixture has no time yet, whatever its entry says.
        case postponed
        case cancelled
    }
}

/// A fault in a calendar's text, or an entry that was not applied.
struct CalendarFault: Error, Sendable, Hashable, Encodable, WritesNulls {
    /// The line number, from 1. For a folded line or a record of several lines, it is the first. `nil`: the fault is
    /// not in a single line.
    var line: Int?
    /// A sentence that says what is wrong or expected.
    var detail: String
    /// The UID of the entry; `nil`: it is unknown, or the fault concerns several entries.
    var uid: String?

    static let leftOut: [String] = []

    init(line: Int?, _ detail: String, uid: String? = nil) {
        self.line = line
        self.detail = detail
        self.uid = uid
    }
}

extension CalendarFault: CustomStringConvertible {
    /// A line for a terminal.
    var description: String { "Problem\(line.map { " on line \($0)" } ?? ""): \(detail.escapingControls)" }
}

/// The limits of a calendar's text. Beyond a limit, the whole file is refused. Only a year outside of `years` is a fault
/// of its entry alone.
enum CalendarLimits {
    /// The most bytes of a file. Ten leagues of 380 fixtures take 1.5 MB as iCalendar.
    static let bytes = 4 * 1_024 * 1_024
    static let lines = 200_000
    /// The most bytes of an unfolded line of iCalendar, or of a field of CSV.
    static let fieldBytes = 16 * 1_024
    static let entries = 5_000
    /// The years that the API accepts for events.
    static let years = 2000...2099
}
