internal import Postgres

// Reads enum values (words) from columns. A word that the code does not know is a decoding error, never a default.

extension PostgresRow {
    /// Reads a column of an enum type as the Swift enum with the same raw values.
    func word<Word: RawRepresentable<String>>(_ column: String, as type: Word.Type = Word.self) throws -> Word {
        try Self.word(try decode(column), column)
    }

    func optionalWord<Word: RawRepresentable<String>>(
        _ column: String, as type: Word.Type = Word.self
    ) throws -> Word? { try decode(String?.self, column).map { try Self.word($0, column) } }

    private static func word<Word: RawRepresentable<String>>(_ text: String, _ column: String) throws -> Word {
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
