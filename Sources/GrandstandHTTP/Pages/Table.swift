/// A table: what its columns make of records. Everything about a column is in one place, and the template `table` writes
/// all tables alike: numbers and the headings over them to the right, and each cell with its column's name, which stands
/// before it where there is no room for columns.
struct Table: Sendable {
    struct Heading: Sendable {
        let label: String
        let isNumber: Bool
    }

    struct Cell: Sendable {
        let label: String
        let isNumber: Bool
        /// The first one of a row, which names it.
        let isHead: Bool
        let pieces: [Piece]
    }

    struct Row: Sendable { let cells: [Cell] }

    let caption: String
    /// Said in place of a table without rows; `nil`: nothing is.
    let nothing: String?
    /// Needs more room than most.
    let isWide: Bool
    let headings: [Heading]
    let rows: [Row]
    /// Of all records.
    let count: String
    /// How many records are left out, in words.
    let remainder: String?

    /// - Parameter limit: rows that are shown at most.
    init<Record>(
        _ caption: String, nothing: String? = nil, isWide: Bool = false, limit: Int = 200, _ records: [Record],
        _ columns: [Column<Record>]
    ) {
        self.caption = caption
        self.nothing = nothing
        self.isWide = isWide
        headings = columns.map(\.heading)
        rows = records.prefix(limit).map { record in
            Row(
                cells: columns.enumerated().map { place, column in
                    Cell(
                        label: column.heading.label, isNumber: column.heading.isNumber, isHead: place == 0,
                        pieces: column.pieces(record).filter { !$0.isEmpty })
                })
        }
        count = Wording.number(records.count)
        let rest = records.count - rows.count
        remainder = rest > 0 ? "\(Wording.number(rest)) more are not shown here; the API has them all." : nil
    }
}

/// One column: its heading, and what stands in it for a record.
struct Column<Record> {
    let heading: Table.Heading
    let pieces: (Record) -> [Piece]

    init(_ label: String, isNumber: Bool = false, _ pieces: @escaping (Record) -> [Piece]) {
        heading = Table.Heading(label: label, isNumber: isNumber)
        self.pieces = pieces
    }

    static func number(_ label: String, _ value: @escaping (Record) -> Int) -> Column {
        Column(label, isNumber: true) { [.words(Wording.number(value($0)))] }
    }
}
