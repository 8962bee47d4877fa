/// A fault in a calendar's text, and its line.
package struct CalendarFault: Error, Sendable, Hashable {
    /// From 1; of a folded line, or a record of several lines, the first.
    package var line: Int
    /// A sentence with the expected form.
    package var detail: String
    /// The UID of its entry; `nil`: of a whole file, or it is not known.
    package var uid: String?

    package init(line: Int, _ detail: String, uid: String? = nil) {
        self.line = line
        self.detail = detail
        self.uid = uid
    }
}
