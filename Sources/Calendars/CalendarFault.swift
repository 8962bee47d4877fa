/// A fault in a calendar's text, and its line.
package struct CalendarFault: Error, Sendable, Hashable {
    /// The line number, from 1. For a folded line or a record of several lines, it is the first.
    package var line: Int
    /// A sentence that says what is wrong or expected.
    package var detail: String
    /// The UID of the entry; `nil`: it is unknown, or the fault concerns the whole file.
    package var uid: String?

    package init(line: Int, _ detail: String, uid: String? = nil) {
        self.line = line
        self.detail = detail
        self.uid = uid
    }
}
