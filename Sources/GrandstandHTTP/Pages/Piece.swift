internal import FoundationEssentials
internal import Grandstand
internal import Mustache

/// What stands in a cell of a table, or beside the name of a fact. The template `pieces` writes each kind.
enum Piece: Sendable, Equatable {
    /// Our own words.
    case words(String)
    /// The same, on a line of their own.
    case line(String)
    /// Somebody else's words, which may run from right to left.
    case quoted(String)
    case code(String)
    case link(Link)
    /// A link whose words are a time.
    case dated(DatedLink)
    case time(Moment)
    /// A state by its own word, which colours it.
    case state(String)
    case level(Level)
    case bar(Bar)
    case form(SmallForm)

    struct Link: Sendable, Equatable {
        let label: String
        let href: String
    }

    struct DatedLink: Sendable, Equatable {
        let moment: Moment
        let href: String
    }

    struct Level: Sendable, Equatable {
        /// `ok`, `warning`, `critical`
        let level: String
        let text: String
    }

    /// A button that does one thing with a row.
    struct SmallForm: Sendable, Equatable {
        struct Field: Sendable, Equatable {
            let name: String
            /// What it says; of a field that is typed into, its label.
            let value: String
        }

        let action: String
        let button: String
        var hidden: [Field] = []
        var typed: [Field] = []
    }

    static func link(_ label: String, _ href: String) -> Piece { .link(Link(label: label, href: href)) }

    static func link(_ moment: Moment?, _ href: String) -> Piece {
        moment.map { Piece.dated(DatedLink(moment: $0, href: href)) } ?? .link("no time", href)
    }

    static func level(_ level: String, _ text: String) -> Piece { .level(Level(level: level, text: text)) }

    static func moment(_ moment: Moment?, else words: String = "") -> Piece { moment.map(Piece.time) ?? .words(words) }

    static func moment(_ date: Date?, exact: Bool = false, else words: String = "") -> Piece {
        moment(date.map { Moment($0, exact: exact) }, else: words)
    }

    static func event(_ key: EventKey?, else words: String = "") -> Piece {
        key.map { Piece.link($0.rawValue, ConsolePath.event($0)) } ?? .words(words)
    }

    /// Whether it leaves its place empty.
    var isEmpty: Bool {
        switch self {
        case .words(let text), .line(let text), .quoted(let text), .code(let text), .state(let text): text.isEmpty
        case .link, .dated, .time, .level, .bar, .form: false
        }
    }
}

/// Templates ask for a piece by its kind: one that it is not of is told at once, and not looked for around it.
extension Piece: MustacheParent {
    static let kinds: Set = [
        "words", "line", "quoted", "code", "link", "dated", "time", "state", "level", "bar", "form",
    ]

    func child(named name: String) -> Any? {
        switch (self, name) {
        case (.words(let text), "words"), (.line(let text), "line"), (.quoted(let text), "quoted"),
            (.code(let text), "code"), (.state(let text), "state"):
            text
        case (.link(let link), "link"): link
        case (.dated(let link), "dated"): link
        case (.time(let moment), "time"): moment
        case (.level(let level), "level"): level
        case (.bar(let bar), "bar"): bar
        case (.form(let form), "form"): form
        case (_, let name) where Self.kinds.contains(name): false
        default: nil
        }
    }
}

/// A name and what there is to say of it, in a list of such.
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
    /// Those that say something.
    var said: [Fact] { filter { !$0.pieces.isEmpty } }
}
