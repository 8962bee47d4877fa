/// A table whose columns are functions of a record. The template `table` writes all tables alike: numbers are
/// right-aligned, and each cell repeats its column's name for narrow screens.
struct Table: Sendable {
    struct Heading: Sendable {
        let label: String
        let isNumber: Bool
    }

    struct Cell: Sendable {
        let label: String
        let isNumber: Bool
        /// Whether this cell is the heading of its row. The first cell of a row is the heading.
        let isHead: Bool
        let pieces: [Piece]
    }

    struct Row: Sendable { let cells: [Cell] }

    let caption: String
    /// The text in place of a table without rows; `nil`: no text.
    let nothing: String?
    let headings: [Heading]
    let rows: [Row]
    /// A sentence with the number of records left out; `nil`: all are shown.
    let remainder: String?

    /// - Parameter limit: the most rows that are shown.
    init<Record>(
        _ caption: String, nothing: String? = nil, limit: Int = 200, _ records: [Record],
        _ columns: [Column<Record>]
    ) {
        self.caption = caption
        self.nothing = nothing
        headings = columns.map(\.heading)
        rows = records.prefix(limit).map { record in
            Row(
                cells: columns.enumerated().map { place, column in
                    Cell(
                        label: column.heading.label, isNumber: column.heading.isNumber, isHead: place == 0,
                        pieces: column.pieces(record).filter { !$0.isEmpty })
                })
        }
        let rest = records.count - rows.count
        remainder = rest > 0 ? "\(Wording.number(rest)) more are not shown here; the API has them all." : nil
    }
}

/// One column: its heading, and the function that fills its cells.
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
