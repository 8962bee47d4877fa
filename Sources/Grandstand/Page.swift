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

/// One part of a list.
package struct Page<Item: Sendable>: Sendable {
    package var items: [Item]
    /// `nil` on the last page.
    package var nextCursor: String?

    package init(items: [Item], nextCursor: String?) {
        self.items = items
        self.nextCursor = nextCursor
    }

    /// Makes a page of rows. The query must ask for `limit` + 1 rows, so that a further page is noticed.
    package init(rows: [Item], limit: Int, cursor: (Item) -> String) {
        items = Array(rows.prefix(limit))
        nextCursor = rows.count > limit ? items.last.map(cursor) : nil
    }
}
