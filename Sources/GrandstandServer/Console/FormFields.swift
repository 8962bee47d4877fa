internal import FoundationEssentials
internal import Grandstand
internal import JSON

/// The fields of a form in a query or a body (`application/x-www-form-urlencoded`). An empty field counts as absent. If
/// a name occurs twice, the last value counts.
struct FormFields: Sendable, Equatable {
    struct Entry: Sendable, Equatable {
        let name: String
        /// The value as it was typed.
        let value: String
    }

    /// All fields in their order.
    let entries: [Entry]

    init(_ entries: [Entry]) {
        self.entries = entries
    }

    init(_ text: String) {
        self.init(
            text.split(separator: "&").compactMap { pair in
                let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
                guard parts.count == 2, let name = Self.decode(parts[0]), let value = Self.decode(parts[1]) else {
                    return nil
                }
                return Entry(name: name, value: value)
            })
    }

    /// The value; `nil` if the field is absent or empty.
    subscript(name: String) -> String? {
        guard let value = entries.last(where: { $0.name == name })?.value.trimmed, !value.isEmpty else { return nil }
        return value
    }

    /// All values of a name, for check boxes and multiple selection.
    func all(_ name: String) -> [String] {
        entries.filter { $0.name == name }.map(\.value.trimmed).filter { !$0.isEmpty }
    }

    /// - Throws: `invalid-request` if `convert` returns `nil`.
    func read<Value>(_ name: String, _ expectation: String, _ convert: (String) -> Value?) throws(Problem) -> Value? {
        guard let text = self[name] else { return nil }
        guard let value = convert(text) else {
            throw Problem(.invalidRequest, "\(name) is \(JSONText.quoted(text)). \(expectation)")
        }
        return value
    }

    func choice<Choice: RawRepresentable<String> & CaseIterable>(
        _ name: String, _ type: Choice.Type = Choice.self
    ) throws(Problem) -> Choice? {
        let words = Choice.allCases.map(\.rawValue).joined(separator: ", ")
        return try read(name, "One of \(words) was expected.") { text in
            Choice.allCases.first { $0.rawValue == text }
        }
    }

    /// The fields, if none of them contains NUL, which PostgreSQL's text does not allow.
    ///
    /// - Throws: `invalid-request`.
    func storable() throws(Problem) -> FormFields {
        guard let bad = entries.first(where: { ($0.name + $0.value).unicodeScalars.contains("\0") }) else {
            return self
        }
        throw Problem(
            .invalidRequest, "\(JSONText.quoted(bad.name)) has the character U+0000. Take it out, and send it again.")
    }

    private static func decode(_ text: Substring) -> String? {
        PercentEncoding.decode(String(text.replacing("+", with: " ")))
    }
}

extension String {
    /// The text without white space at both ends, which pasted text often has.
    var trimmed: String {
        let start = drop { $0.isWhitespace }
        return String(String(start.reversed()).drop { $0.isWhitespace }.reversed())
    }
}
