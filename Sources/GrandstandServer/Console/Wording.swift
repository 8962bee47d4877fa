internal import FoundationEssentials
internal import Grandstand
internal import JSON

/// Formats numbers and lists for people.
enum Wording {
    /// `10,000`
    static func number(_ value: Int) -> String {
        var text = ""
        for (place, digit) in String(value.magnitude).reversed().enumerated() {
            if place > 0, place.isMultiple(of: 3) { text.append(",") }
            text.append(digit)
        }
        return (value < 0 ? "-" : "") + String(text.reversed())
    }

    /// The name of a member as people read it: `failingSince` is `Failing since`, `teamId` is `Team ID`.
    static func label(_ name: String) -> String {
        var words: [String] = []
        for character in name {
            if words.isEmpty || character.isUppercase { words.append("") }
            words[words.count - 1].append(character)
        }
        let known = ["id": "ID", "ids": "IDs", "url": "URL"]
        let text = words.map { known[$0.lowercased()] ?? $0.lowercased() }.joined(separator: " ")
        return text.prefix(1).uppercased() + text.dropFirst()
    }

    /// `1 channel`, `2,000 channels`
    static func count(_ value: Int, _ singular: String, _ plural: String? = nil) -> String {
        "\(number(value)) \(value == 1 ? singular : plural ?? singular + "s")"
    }

    /// Counts equal words, as in `2 active, 1 failed`, in the order in which the words first occur.
    static func tally(_ words: [String]) -> String {
        var order: [String] = []
        for word in words where !order.contains(word) { order.append(word) }
        return order.map { word in "\(number(words.count(where: { $0 == word }))) \(word)" }.joined(separator: ", ")
    }

    /// `com.example.Stadium, production, de`, without the values that are `nil`.
    static func list(_ words: String?...) -> String { words.compactMap(\.self).joined(separator: ", ") }
}

/// A time for people and machines, in UTC. The script `console.js` shows the time in the reader's zone, also within a
/// sentence that contains `text`.
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

    /// Takes a time in RFC 3339, as reports have it. Other text is shown unchanged.
    init(iso: String) {
        (self.iso, isExact) = (iso, false)
        text = RFC3339.date(iso).map { Moment($0).text } ?? iso
    }

    /// Seconds since 1970.
    init(epoch: Int) { self.init(Date(timeIntervalSince1970: Double(epoch))) }

    /// `2026-11-21`
    var day: String { String(iso.prefix(10)) }
}

/// JSON formatted for people, one member a line. Names, strings and numbers stay as they were written.
enum ReadableJSON {
    /// - Returns: the formatted JSON. Text that is not JSON is not formatted. Text longer than `maximumBytes` is cut.
    static func text(_ bytes: [UInt8], maximumBytes: Int = 20_000) -> String {
        guard let value = try? JSONValue(parsing: bytes, maximumValues: .max) else {
            return escaped(String(decoding: bytes.prefix(maximumBytes), as: UTF8.self))
        }
        let text = Array(lines(value, "").utf8)
        let isCut = text.count > maximumBytes
        return escaped(String(decoding: text.prefix(maximumBytes), as: UTF8.self)) + (isCut ? "…" : "")
    }

    /// JSON in one line without white space. Text that is not JSON is unchanged.
    static func line(_ bytes: [UInt8]) -> String {
        let compact = (try? JSONValue(parsing: bytes, maximumValues: .max))?.compact ?? bytes
        return escaped(String(decoding: compact.prefix(500), as: UTF8.self))
    }

    /// JSON text in which characters that are invisible or change the text's direction are escaped, for example as
    /// `\u202e`. The JSON's meaning stays the same. If a form shows the escaped text, the browser sends the escaped
    /// text back unchanged.
    static func escaped(_ json: String) -> String {
        var text = ""
        text.unicodeScalars.append(contentsOf: json.unicodeScalars.filter { $0 != "\r" })
        return text.escaping(HTMLText.isDeceptive)
    }

    private static func lines(_ value: JSONValue, _ indent: String) -> String {
        let parts: [String]
        switch value.kind {
        // An array of plain values stays on one line.
        case .array(let elements)
        where elements.contains(where: { $0.elements?.isEmpty == false || !$0.members.isEmpty }):
            parts = elements.map { lines($0, indent + "  ") }
        case .object(let members) where !members.isEmpty:
            parts = members.map { "\($0.name.quotedJSON): \(lines($0.value, indent + "  "))" }
        default: return String(decoding: value.source, as: UTF8.self)
        }
        let (open, close) = value.elements == nil ? ("{", "}") : ("[", "]")
        return open + parts.map { "\n\(indent)  \($0)" }.joined(separator: ",") + "\n\(indent)\(close)"
    }
}

// Reads the API's answers.

extension JSONValue {
    static func text(_ text: String) -> JSONValue? { try? JSONValue(decoding: text.quotedJSON.utf8) }

    /// The text of a member; empty if the member is absent.
    func text(_ name: String) -> String { self[name]?.string ?? "" }

    func texts(_ name: String) -> [String] { (self[name]?.elements ?? []).compactMap(\.string) }

    func flag(_ name: String) -> Bool {
        if case .bool(true)? = self[name]?.kind { true } else { false }
    }

    func items(_ name: String) -> [JSONValue] { self[name]?.elements ?? [] }
}
