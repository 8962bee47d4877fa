internal import FoundationEssentials
internal import Grandstand
internal import JSON

/// Formats numbers and lists for people.
enum Wording {
    /// `10,000`
    static func number(_ value: Int) -> String { String(value).replacing(/\B(?=(\d{3})+$)/, with: ",") }

    /// The name of a member as people read it: `failingSince` is `Failing since`, `teamId` is `Team ID`.
    static func label(_ name: String) -> String {
        let known = ["id": "ID", "ids": "IDs", "url": "URL"]
        let words = name.replacing(/[A-Z]/) { " " + $0.output }.lowercased().split(separator: " ").map(String.init)
        let text = words.map { known[$0] ?? $0 }.joined(separator: " ")
        return text.prefix(1).uppercased() + text.dropFirst()
    }

    /// `1 channel`, `2,000 channels`
    static func count(_ value: Int, _ singular: String) -> String {
        "\(number(value)) \(value == 1 ? singular : singular + "s")"
    }

    /// Counts equal words, as in `2 active, 1 failed`.
    static func tally(_ words: [String]) -> String {
        let counts = Dictionary(grouping: words) { $0 }.sorted { $0.key < $1.key }
        return counts.map { "\(number($0.value.count)) \($0.key)" }.joined(separator: ", ")
    }

    /// `com.example.Stadium, production, de`, without the values that are `nil`.
    static func list(_ words: String?...) -> String { words.compactMap(\.self).joined(separator: ", ") }
}

/// A time for people and machines, in UTC. The script `console.js` shows the time in the reader's zone, but not within
/// a sentence that contains `text`.
struct Moment: Sendable, Equatable {
    /// The time in RFC 3339 format.
    let iso: String
    /// `2026-11-21 20:45 UTC`, with seconds where they matter.
    let text: String
    /// Whether seconds matter.
    let isExact: Bool

    init(_ date: Date, exact: Bool = false) {
        iso = RFC3339.text(date)
        text = "\(iso.prefix(10)) \(iso.dropFirst(11).prefix(exact ? 8 : 5)) UTC"
        isExact = exact
    }
}

/// JSON formatted for people, one member a line. Names, strings and numbers stay as they were written.
enum ReadableJSON {
    /// - Returns: the formatted JSON. Text that is not JSON is not formatted. Text longer than `maximumBytes` is cut.
    static func text(_ bytes: [UInt8], maximumBytes: Int = 20_000) -> String {
        let json = (try? JSONValue(parsing: bytes, maximumValues: .max)).map { pretty($0, "") }
        let text = json.map { Array($0.utf8) } ?? bytes
        let isCut = text.count > maximumBytes
        return escaped(String(decoding: text.prefix(maximumBytes), as: UTF8.self)) + (isCut ? "…" : "")
    }

    /// JSON text in which characters that are invisible or change the text's direction are escaped, for example as
    /// `\u202e`. The JSON's meaning stays the same. If a form shows the escaped text, the browser sends the escaped
    /// text back unchanged.
    static func escaped(_ json: String) -> String {
        var text = ""
        text.unicodeScalars.append(contentsOf: json.unicodeScalars.filter { $0 != "\r" })
        return text.escaping(HTMLText.isDeceptive)
    }

    private static func pretty(_ value: JSONValue, _ indent: String) -> String {
        let parts: [String]
        switch value.kind {
        case .array(let elements) where !elements.isEmpty: parts = elements.map { pretty($0, indent + "  ") }
        case .object(let members) where !members.isEmpty:
            parts = members.map { "\($0.name.quotedJSON): \(pretty($0.value, indent + "  "))" }
        default: return String(decoding: value.source, as: UTF8.self)
        }
        let (open, close) = value.elements == nil ? ("{", "}") : ("[", "]")
        return open + parts.map { "\n\(indent)  \($0)" }.joined(separator: ",") + "\n\(indent)\(close)"
    }
}

// Reads the API's answers.

extension JSONValue {
    static func fromText(_ text: String) -> JSONValue? { try? JSONValue(decoding: text.quotedJSON.utf8) }

    /// The text of a member; empty if the member is absent.
    func text(_ name: String) -> String { self[name]?.string ?? "" }

    func texts(_ name: String) -> [String] { (self[name]?.elements ?? []).compactMap(\.string) }

    func flag(_ name: String) -> Bool {
        if case .bool(true)? = self[name]?.kind { true } else { false }
    }

    func items(_ name: String) -> [JSONValue] { self[name]?.elements ?? [] }
}
