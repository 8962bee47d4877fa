/// What is wrong with a calendar's text, and on which line.
package struct CalendarFault: Error, Sendable, Hashable {
    /// From 1; of a folded line, or a record of several lines, the first.
    package var line: Int
    /// A sentence that says what was expected.
    package var detail: String
    /// Whose entry it is; `nil`: of a whole file, or nobody can tell.
    package var uid: String?

    package init(line: Int, _ detail: String, uid: String? = nil) {
        self.line = line
        self.detail = detail
        self.uid = uid
    }
}
