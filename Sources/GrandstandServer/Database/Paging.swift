internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import Postgres

/// Where a page ended: a number or a time in microseconds, and a key that tells apart items with the same number or
/// time. Callers do not interpret a cursor.
struct PageCursor {
    let number: Int
    let key: String

    /// Microseconds since 1970 until the year 9999. PostgreSQL refuses times far beyond it.
    static let last = 253_402_300_799_999_999

    /// Reads a cursor that one of the `text` functions wrote.
    ///
    /// - Throws: `invalid-request` for anything else.
    init(_ text: String) throws(Problem) {
        guard let bytes = Data(base64Encoded: text), let plain = String(data: bytes, encoding: .utf8),
            let separator = plain.firstIndex(of: " "), let number = Int(plain[..<separator]),
            0...Self.last ~= number, !plain.contains("\0")
        else { throw PageRequest.refusal }
        self.number = number
        key = String(plain[plain.index(after: separator)...])
    }

    static func text(_ number: Int, _ key: String) -> String { Data("\(number) \(key)".utf8).base64EncodedString() }

    static func text(_ date: Date, _ key: String) -> String { text(number(date), key) }

    /// The number of a time.
    static func number(_ date: Date) -> Int {
        Int(min(max((date.timeIntervalSince1970 * 1_000_000).rounded(), 0), Double(last)))
    }

    var date: Date { Date(timeIntervalSince1970: Double(number) / 1_000_000) }
}

/// A page of a list in order of a time and an ID.
struct TimePage {
    private let limit: Int
    private let columns: (time: PostgresQuery, id: PostgresQuery)
    private let isNewestFirst: Bool
    private let last: (date: Date, id: UUID)?

    /// - Throws: `invalid-request` for a cursor that is not valid.
    init(
        _ page: PageRequest, by time: PostgresQuery, _ id: PostgresQuery, newestFirst: Bool = false
    ) throws(Problem) {
        limit = page.limit
        columns = (time, id)
        isNewestFirst = newestFirst
        last = try page.cursor.map { text throws(Problem) -> (date: Date, id: UUID) in
            let cursor = try PageCursor(text)
            guard let id = UUID(uuidString: cursor.key) else { throw PageRequest.refusal }
            return (cursor.date, id)
        }
    }

    /// The condition that a row comes after the cursor.
    var condition: PostgresQuery {
        let beyond: PostgresQuery = isNewestFirst ? "<" : ">"
        return "(\(last?.id)::uuid is null or (\(columns.time), \(columns.id)) \(beyond) (\(last?.date), \(last?.id)))"
    }

    /// The end of the statement that reads the page's rows, and one more row that shows whether another page follows.
    var order: PostgresQuery {
        let direction: PostgresQuery = isNewestFirst ? " desc" : ""
        return "order by \(columns.time)\(direction), \(columns.id)\(direction) limit \(limit + 1)"
    }

    /// - Parameter place: the time and the ID of an item.
    func page<Item: Sendable & Hashable & Codable>(
        _ items: [Item], _ place: (Item) -> (Date, String)
    ) -> Contract.Page<Item> {
        page(items, place) { $0 }
    }

    /// A page whose items are made from rows that have more than the items.
    func page<Row, Item: Sendable & Hashable & Codable>(
        _ rows: [Row], _ place: (Row) -> (Date, String), as item: (Row) -> Item
    ) -> Contract.Page<Item> {
        let next = rows.count > limit ? rows.prefix(limit).last.map(place) : nil
        return Contract.Page(
            items: rows.prefix(limit).map(item), nextCursor: next.map { date, id in PageCursor.text(date, id) })
    }
}

extension Contract.Page {
    /// Makes a page of rows. The query must ask for `limit` + 1 rows, so that a further page is noticed.
    init(rows: [Item], limit: Int, cursor: (Item) -> String) {
        let items = Array(rows.prefix(limit))
        self.init(items: items, nextCursor: rows.count > limit ? items.last.map(cursor) : nil)
    }
}
