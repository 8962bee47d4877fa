internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import Postgres

extension Database {
    /// A page of a statement's rows, in order of a time and then of the column `id`, a UUID.
    ///
    /// - Parameters:
    ///   - time: the column with the time.
    ///   - items: makes the items of the rows.
    /// - Throws: `invalid-request` for a cursor that is not valid.
    func page<Item: Sendable & Hashable & Codable>(
        _ page: PageRequest, by time: PostgresQuery = "\"createdAt\"", newestFirst: Bool = false,
        of statement: PostgresQuery,
        as items: ([PostgresRow]) async throws -> [Item] = { try $0.map { try $0.read() } }
    ) async throws -> Contract.Page<Item> {
        let cursor = try page.cursor.map { text throws(Problem) in try PageCursor(text) }
        let place = cursor.flatMap { UUID(uuidString: $0.key) }
        guard place != nil || cursor == nil else { throw PageRequest.cursorProblem }
        let (beyond, direction): (PostgresQuery, PostgresQuery) = newestFirst ? ("<", " desc") : (">", "")
        // One more row shows whether another page follows.
        let rows = try await query(
            """
            select p.*, p.\(time) as page_time from (\(statement)) p
            where \(place)::uuid is null or (p.\(time), p.id) \(beyond) (\(cursor?.date), \(place))
            order by p.\(time)\(direction), p.id\(direction) limit \(page.limit + 1)
            """)
        let shown = Array(rows.prefix(page.limit))
        let last = rows.count > page.limit ? shown.last : nil
        let next = try last.map {
            PageCursor.text(try $0.decode(Date.self, "page_time"), try $0.decode(UUID.self, "id").text)
        }
        return Contract.Page(items: try await items(shown), nextCursor: next)
    }
}

extension Contract.Page {
    /// Makes a page of rows. The query must ask for `limit` + 1 rows, so that a further page is noticed.
    init(rows: [Item], limit: Int, cursor: (Item) -> String) {
        let items = Array(rows.prefix(limit))
        self.init(items: items, nextCursor: rows.count > limit ? items.last.map(cursor) : nil)
    }
}
