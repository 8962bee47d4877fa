internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import Postgres

// How words of the domain are read off columns. A word the code does not know is a decoding error, never a default.

extension PostgresRow {
    /// Reads a column of an enum type as the Swift enum of the same words.
    func word<Word: RawRepresentable<String>>(_ column: String, as type: Word.Type = Word.self) throws -> Word {
        let text: String = try decode(column)
        guard let word = Word(rawValue: text) else { throw UnknownWord(column: column, text: text) }
        return word
    }

    func optionalWord<Word: RawRepresentable<String>>(
        _ column: String, as type: Word.Type = Word.self
    ) throws -> Word? {
        guard let text = try decode(String?.self, column) else { return nil }
        guard let word = Word(rawValue: text) else { throw UnknownWord(column: column, text: text) }
        return word
    }

    func decode<Value: PostgresDecodable>(_ column: String) throws -> Value { try decode(Value.self, column) }
}

/// A column holds a word that this version does not know.
struct UnknownWord: Error, CustomStringConvertible {
    let column: String
    let text: String
    var description: String { "column \(column) holds \(text), which this version of Grandstand does not know" }
}

/// A cursor over (time, tie-breaker), opaque to callers.
struct TimeCursor {
    let date: Date
    let key: String

    init(date: Date, key: String) {
        self.date = date
        self.key = key
    }

    /// Reads what `text` wrote.
    ///
    /// - Throws: `invalid-request` for anything else.
    init(_ text: String) throws(Problem) {
        guard let bytes = Data(base64Encoded: text), let plain = String(data: bytes, encoding: .utf8),
            let separator = plain.firstIndex(of: " "), let microseconds = Int(plain[..<separator])
        else { throw Self.refusal }
        date = Date(timeIntervalSince1970: Double(microseconds) / 1_000_000)
        key = String(plain[plain.index(after: separator)...])
    }

    var text: String {
        let microseconds = Int((date.timeIntervalSince1970 * 1_000_000).rounded())
        return Data("\(microseconds) \(key)".utf8).base64EncodedString()
    }

    static let refusal = Problem(
        .invalidRequest, "Use nextCursor of the previous page as it came.",
        errors: [FieldError(pointer: "cursor", detail: "This is not a cursor of this list.")])
}
