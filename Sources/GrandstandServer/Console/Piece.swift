internal import FoundationEssentials
internal import Grandstand
internal import Mustache

/// A part of a table cell or of a fact. The template `pieces` has one form for each kind.
enum Piece: Sendable, Equatable {
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
    case level(Level)
    case bar(Bar)

    struct Link: Sendable, Equatable {
        /// The text; a time is shown instead if there is one.
        let label: String
        let href: String
        var moment: Moment?
    }

    struct Level: Sendable, Equatable {
        /// `ok`, `warning`, `critical`
        let level: String
        let text: String
    }

    static func link(_ label: String, _ href: String) -> Piece { .link(Link(label: label, href: href)) }

    static func link(_ moment: Moment?, _ href: String) -> Piece {
        .link(Link(label: "no time", href: href, moment: moment))
    }

    static func level(_ level: String, _ text: String) -> Piece { .level(Level(level: level, text: text)) }

    static func moment(_ moment: Moment?, else words: String = "") -> Piece { moment.map(Piece.time) ?? .words(words) }

    static func moment(_ date: Date?, exact: Bool = false, else words: String = "") -> Piece {
        moment(date.map { Moment($0, exact: exact) }, else: words)
    }

    static func event(_ key: EventKey?, else words: String = "") -> Piece {
        key.map { Piece.link($0.rawValue, ConsolePath.event($0)) } ?? .words(words)
    }

    /// Whether the piece shows nothing.
    var isEmpty: Bool {
        switch self {
        case .words(let text), .line(let text), .quoted(let text), .code(let text), .state(let text): text.isEmpty
        case .link, .time, .level, .bar: false
        }
    }
}

/// Lets templates find a piece under the name of its kind. For the name of another kind, the lookup returns `false`, so
/// that Mustache does not look in the enclosing values.
extension Piece: MustacheParent {
    static let kinds: Set = [
        "words", "line", "quoted", "code", "link", "time", "state", "level", "bar",
    ]

    func child(named name: String) -> Any? {
        switch (self, name) {
        case (.words(let text), "words"), (.line(let text), "line"), (.quoted(let text), "quoted"),
            (.code(let text), "code"), (.state(let text), "state"):
            text
        case (.link(let link), "link"): link
        case (.time(let moment), "time"): moment
        case (.level(let level), "level"): level
        case (.bar(let bar), "bar"): bar
        case (_, let name) where Self.kinds.contains(name): false
        default: nil
        }
    }
}

/// A name with its value, for a list of facts.
struct Fact: Sendable {
    let name: String
    let pieces: [Piece]

    init(_ name: String, _ pieces: Piece...) { self.init(name, pieces) }

    init(_ name: String, _ pieces: [Piece]) {
        self.name = name
        self.pieces = pieces.filter { !$0.isEmpty }
    }
}

extension [Fact] {
    /// The facts that have a value.
    var nonEmpty: [Fact] { filter { !$0.pieces.isEmpty } }
}
