internal import FoundationEssentials
internal import Grandstand
internal import Mustache

/// A part of a table cell or of a fact. The template `pieces` has one form for each kind.
struct Piece: Sendable {
    enum Kind: String, CaseIterable {
        case words, line, quoted, code, link, time, state, level, bar
    }

    struct Link: Sendable {
        /// The text; a time is shown instead if there is one.
        let label: String
        let href: String
        var moment: Moment?
    }

    struct Level: Sendable {
        /// `ok`, `warning`, `critical`
        let level: String
        let text: String
    }

    let kind: Kind
    /// What the template shows: a text, a `Link`, a `Level`, a `Moment` or a `Bar`.
    let value: any Sendable

    /// Text of the console.
    static func words(_ text: String) -> Piece { Piece(kind: .words, value: text) }

    /// Text of the console on a separate line.
    static func line(_ text: String) -> Piece { Piece(kind: .line, value: text) }

    /// Text from outside, which may run from right to left.
    static func quoted(_ text: String) -> Piece { Piece(kind: .quoted, value: text) }

    static func code(_ text: String) -> Piece { Piece(kind: .code, value: text) }

    /// A state. The word of the state also selects the colour.
    static func state(_ word: String) -> Piece { Piece(kind: .state, value: word) }

    static func level(_ level: String, _ text: String) -> Piece {
        Piece(kind: .level, value: Level(level: level, text: text))
    }

    static func bar(_ bar: Bar) -> Piece { Piece(kind: .bar, value: bar) }

    static func link(_ label: String, _ href: String, at moment: Moment? = nil) -> Piece {
        Piece(kind: .link, value: Link(label: label, href: href, moment: moment))
    }

    static func moment(_ moment: Moment?, else words: String = "") -> Piece {
        moment.map { Piece(kind: .time, value: $0) } ?? .words(words)
    }

    static func moment(_ date: Date?, exact: Bool = false, else words: String = "") -> Piece {
        moment(date.map { Moment($0, exact: exact) }, else: words)
    }

    static func event(_ key: EventKey?, else words: String = "") -> Piece {
        key.map { Piece.link($0.rawValue, ConsolePath.event($0)) } ?? .words(words)
    }

    /// Whether the piece shows nothing.
    var isEmpty: Bool { (value as? String)?.isEmpty ?? false }
}

/// Lets templates find a piece under the name of its kind. For the name of another kind, the lookup returns `false`, so
/// that Mustache does not look in the enclosing values.
extension Piece: MustacheParent {
    func child(named name: String) -> Any? {
        if kind.rawValue == name { return value }
        return Kind(rawValue: name) == nil ? nil : false
    }
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
struct Bar: Sendable, Equatable {
    struct Part: Sendable, Equatable {
        /// The part's class in the stylesheet.
        let kind: String
        let x: Int
        let width: Int
    }

    /// The drawing's width, in its own units.
    static let width = 1_000

    let parts: [Part]
    /// The mark's position; `nil`: there is no limit, or the limit is at the bar's end.
    let limitX: Int?
    let barText: String

    /// - Parameters:
    ///   - counts: the parts from left to right. A part with the count 0 is left out.
    ///   - total: the number that fills the whole bar.
    init(_ counts: [(kind: String, count: Int)], of total: Int, limit: Int? = nil, text: String) {
        let total = max(1, total, counts.reduce(0) { $0 + $1.count })
        var parts: [Part] = []
        var before = 0
        for (kind, count) in counts where count > 0 {
            let x = Self.width * before / total
            before += count
            // A part is at least 3 wide, so that a small count stays visible.
            parts.append(Part(kind: kind, x: x, width: max(3, Self.width * before / total - x)))
        }
        self.parts = parts
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
        self.value = value
        self.label = label ?? value
        choiceHint = hint
        self.isChosen = isChosen
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
    struct Row: Sendable { let cells: [Fact] }

    let caption: String
    /// The text in place of a table without rows; `nil`: no text.
    let nothing: String?
    /// The headings of the columns.
    let headings: [Fact]
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
        headings = columns.map { Fact($0.label, isNumber: $0.isNumber, isHead: true, []) }
        rows = records.prefix(limit).map { record in
            Row(
                cells: columns.enumerated().map { place, column in
                    Fact(column.label, isNumber: column.isNumber, isHead: place == 0, column.pieces(record))
                })
        }
        let rest = records.count - rows.count
        remainder = rest > 0 ? "\(Wording.number(rest)) more are not shown here; the API has them all." : nil
    }
}

/// One column: its heading, and the function that fills its cells.
struct Column<Record> {
    let label: String
    let isNumber: Bool
    let pieces: (Record) -> [Piece]

    init(_ label: String, isNumber: Bool = false, _ pieces: @escaping (Record) -> [Piece]) {
        self.label = label
        self.isNumber = isNumber
        self.pieces = pieces
    }

    static func number(_ label: String, _ value: @escaping (Record) -> Int) -> Column {
        Column(label, isNumber: true) { [.words(Wording.number(value($0)))] }
    }
}

/// The links through a long list.
struct Pager: Sendable {
    /// The link to the first page; `nil` if this is the first page.
    let start: String?
    /// The link to the next page; `nil` on the last page.
    let onward: String?
    let isNeeded: Bool

    /// - Parameters:
    ///   - path: the path of the list; `nil`: the path of this request.
    ///   - query: the filter of the list, which the links keep.
    init(
        _ visit: Visit, path: String? = nil, query: [(name: String, value: String?)] = [], nextCursor: String?
    ) {
        let path = path ?? visit.path
        start = visit.isAtStart ? nil : ConsolePath.link(path, query)
        onward = nextCursor.map { ConsolePath.link(path, query + [("cursor", $0)]) }
        isNeeded = start != nil || onward != nil
    }
}
