internal import FoundationEssentials
internal import Mustache

/// A part of a table cell or of a fact. The template `pieces` has one form for each case.
enum Piece: Sendable {
    typealias Link = (label: String, href: String)

    /// Text of the console.
    case words(String)
    /// Text from outside, which may run from right to left.
    case quoted(String)
    case code(String)
    case link(Link)
    case time(Moment)
    /// A state. The word of the state also selects the colour.
    case state(String)
    /// The level is `ok`, `warning` or `critical`.
    case level(level: String, text: String)

    static func link(_ label: String, _ href: String) -> Piece { .link((label, href)) }

    static func moment(_ date: Date?, exact: Bool = false, else words: String = "") -> Piece {
        date.map { .time(Moment($0, exact: exact)) } ?? .words(words)
    }

    /// The name of the case, and what it shows.
    private var part: Mirror.Child? { Mirror(reflecting: self).children.first }

    /// Whether the piece shows nothing.
    var isEmpty: Bool { part?.value as? String == "" }
    /// Whether it is only a number.
    var isNumber: Bool {
        guard case .words(let text) = self else { return false }
        return text.allSatisfy { $0.isNumber || $0 == "," }
    }
}

/// Lets templates find what a piece shows under the name of its case. For each other name, the lookup returns `false`,
/// so that Mustache does not look in the enclosing values.
extension Piece: MustacheParent {
    func child(named name: String) -> Any? { part?.label == name ? part?.value : false }
}

/// A name with what is shown for it: a fact, or a cell of a table.
struct Fact: Sendable {
    let label: String
    /// Whether it shows only a number, which stands at the right of its column.
    let isNumber: Bool
    /// Whether this cell is the heading of its row. The first cell of a row is the heading.
    var isHead = false
    let pieces: [Piece]

    init(_ label: String, isHead: Bool = false, _ pieces: [Piece]) {
        (self.label, self.isHead, self.pieces) = (label, isHead, pieces.filter { !$0.isEmpty })
        isNumber = self.pieces.count == 1 && self.pieces[0].isNumber
    }
}

extension [Fact] {
    /// The facts that have a value.
    var nonEmpty: [Fact] { filter { !$0.pieces.isEmpty } }
}

/// An option of a select box or a check box, or one of several links.
struct Choice: Sendable {
    let value: String
    /// The text that people read.
    let label: String
    let choiceHint: String?
    let isChosen: Bool

    /// - Parameter label: the text that people read; `nil`: `value`.
    init(_ value: String, label: String? = nil, hint: String? = nil, isChosen: Bool) {
        (self.value, self.label, choiceHint, self.isChosen) = (value, label ?? value, hint, isChosen)
    }
}

/// A table whose columns are functions of a record. Numbers are right-aligned, and each cell repeats its column's name
/// for narrow screens.
struct Table: Sendable {
    let caption: String
    /// The text in place of a table without rows; `nil`: no text.
    let nothing: String?
    /// The headings of the columns.
    let headings: [Fact]
    let rows: [[Fact]]
    /// A sentence with the number of records left out; `nil`: all are shown.
    let remainder: String?

    init<Record>(_ caption: String, nothing: String? = nil, _ records: [Record], _ columns: [Column<Record>]) {
        (self.caption, self.nothing) = (caption, nothing)
        rows = records.prefix(200).map { record in
            columns.enumerated().map { place, column in
                Fact(column.label, isHead: place == 0, column.pieces(record))
            }
        }
        headings = rows.first ?? []
        let rest = records.count - rows.count
        remainder = rest > 0 ? "\(Wording.number(rest)) more are not shown here; the API has them all." : nil
    }
}

/// A column of a table, or a fact of an object: its name, and the function that makes what is shown.
struct Column<Record>: Sendable {
    let label: String
    let pieces: @Sendable (Record) -> [Piece]

    init(_ label: String, _ pieces: @escaping @Sendable (Record) -> [Piece]) {
        (self.label, self.pieces) = (label, pieces)
    }
}
