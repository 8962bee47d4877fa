/// Which part of a list is asked for.
package struct PageRequest: Sendable, Hashable {
    /// 1 to 200.
    package var limit: Int
    /// The end of the last page; opaque to callers.
    package var cursor: String?

    package init(limit: Int = 50, cursor: String? = nil) {
        self.limit = limit
        self.cursor = cursor
    }

    /// For a cursor that is none of the list's.
    package static let refusal = Problem.invalid(
        "Use nextCursor of the previous page as it came.", at: "cursor", "This is not a cursor of this list.")
}

/// One part of a list.
package struct Page<Item: Sendable>: Sendable {
    package var items: [Item]
    /// `nil` on the last page.
    package var nextCursor: String?

    package init(items: [Item], nextCursor: String?) {
        self.items = items
        self.nextCursor = nextCursor
    }

    /// Cuts a page off rows of which one more than `limit` was asked for.
    package init(rows: [Item], limit: Int, cursor: (Item) -> String) {
        items = Array(rows.prefix(limit))
        nextCursor = rows.count > limit ? items.last.map(cursor) : nil
    }
}
