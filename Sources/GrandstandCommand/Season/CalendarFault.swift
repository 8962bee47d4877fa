internal import JSON

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
