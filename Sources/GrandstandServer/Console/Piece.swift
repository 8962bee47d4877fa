internal import FoundationEssentials
internal import Grandstand
internal import Mustache

/// A part of a table cell or of a fact. The template `pieces` has one form for each case.
enum Piece: Sendable {
    struct Link: Sendable {
        /// The text; a time is shown instead if there is one.
        let label: String
        let href: String
        var moment: Moment?
    }

    /// Text of the console.
    case words(String)
    /// Text of the console on a separate line.
    case line(String)
    /// Text from outside, which may run from right to left.
    case quoted(String)
    case code(String)
    case link(Link)
    case time(Moment)
    /// A state. The word of the state also selects the colour.
    case state(String)
    /// The level is `ok`, `warning` or `critical`.
    case level(level: String, text: String)
    case bar(Bar)

    static func link(_ label: String, _ href: String, at moment: Moment? = nil) -> Piece {
        .link(Link(label: label, href: href, moment: moment))
    }

    static func moment(_ date: Date?, exact: Bool = false, else words: String = "") -> Piece {
        date.map { .time(Moment($0, exact: exact)) } ?? .words(words)
    }

    /// The name of the case, and what it shows.
    private var part: Mirror.Child? { Mirror(reflecting: self).children.first }

    /// Whether the piece shows nothing.
    var isEmpty: Bool { part?.value as? String == "" }
}

/// Lets templates find what a piece shows under the name of its case. For each other name, the lookup returns `false`,
/// so that Mustache does not look in the enclosing values.
extension Piece: MustacheParent {
    func child(named name: String) -> Any? { part?.label == name ? part?.value : false }
}

/// A name with what is shown for it: a fact, or a cell of a table.
struct Fact: Sendable {
    let label: String
    var isNumber = false
    /// Whether this cell is the heading of its row. The first cell of a row is the heading.
    var isHead = false
    let pieces: [Piece]

    init(_ label: String, _ pieces: Piece...) { self.init(label, pieces) }

    init(_ label: String, isNumber: Bool = false, isHead: Bool = false, _ pieces: [Piece]) {
        (self.label, self.isNumber, self.isHead) = (label, isNumber, isHead)
        self.pieces = pieces.filter { !$0.isEmpty }
    }
}

extension [Fact] {
    /// The facts that have a value.
    var nonEmpty: [Fact] { filter { !$0.pieces.isEmpty } }
}

/// A bar of several parts with a mark at the limit, drawn as SVG. `barText` says the same in words.
struct Bar: Sendable {
    /// The drawing's width, in its own units.
    static let width = 1_000

    /// The kind is the part's class in the stylesheet.
    private(set) var parts: [(kind: String, x: Int, width: Int)] = []
    /// The mark's position; `nil`: there is no limit, or the limit is at the bar's end.
    let limitX: Int?
    let barText: String

    /// - Parameters:
    ///   - counts: the parts from left to right. A part with the count 0 is left out.
    ///   - total: the number that fills the whole bar.
    init(_ counts: [(kind: String, count: Int)], of total: Int, limit: Int? = nil, text: String) {
        let total = max(1, total, counts.reduce(0) { $0 + $1.count })
        var before = 0
        for (kind, count) in counts where count > 0 {
            let x = Self.width * before / total
            before += count
            // A part is at least 3 wide, so that a small count stays visible.
            parts.append((kind, x, max(3, Self.width * before / total - x)))
        }
        limitX = limit.flatMap { $0 < total ? Self.width * $0 / total : nil }
        barText = text
    }
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

    /// The APNs priorities that a message can have.
    static func priorities(chosen: String) -> [Choice] {
        [
            ("", "as the message needs it"), ("10", "10: at once"), ("5", "5: as power allows"),
            ("1", "1: saving power comes first"),
        ].map { Choice($0.0, label: $0.1, isChosen: $0.0 == chosen) }
    }
}

/// A table whose columns are functions of a record. The template `table` writes all tables alike: numbers are
/// right-aligned, and each cell repeats its column's name for narrow screens.
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
                Fact(column.label, isNumber: column.isNumber, isHead: place == 0, column.pieces(record))
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
    var isNumber: Bool
    let pieces: @Sendable (Record) -> [Piece]

    init(_ label: String, isNumber: Bool = false, _ pieces: @escaping @Sendable (Record) -> [Piece]) {
        (self.label, self.isNumber, self.pieces) = (label, isNumber, pieces)
    }
}

/// The links through a long list.
struct Pager: Sendable {
    /// The link to the first page; `nil` if this is the first page.
    let start: String?
    /// The link to the next page; `nil` on the last page.
    let onward: String?

    /// - Parameters:
    ///   - path: the path of the list; `nil`: the path of this request.
    ///   - query: the filter of the list, which the links keep.
    /// - Returns: `nil` if the list has one page only.
    init?(
        _ visit: Visit, path: String? = nil, query: [(name: String, value: String?)] = [], nextCursor: String?
    ) {
        if visit.isAtStart, nextCursor == nil { return nil }
        let path = path ?? visit.path
        start = visit.isAtStart ? nil : ConsolePath.link(path, query)
        onward = nextCursor.map { ConsolePath.link(path, query + [("cursor", $0)]) }
    }
}
