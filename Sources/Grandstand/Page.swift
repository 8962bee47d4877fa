/// A request for one page of a list.
package struct PageRequest: Sendable, Hashable {
    /// 1 to 200.
    package var limit: Int
    /// The position after the previous page; opaque to callers.
    package var cursor: String?

    package init(limit: Int = 50, cursor: String? = nil) {
        self.limit = limit
        self.cursor = cursor
    }

    /// The error for an invalid cursor.
    package static let refusal = Problem.invalid(
        "Use nextCursor of the previous page as it came.", at: "cursor", "This is not a cursor of this list.")
}
