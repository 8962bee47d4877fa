internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import JSON
internal import Postgres

extension PostgresRow {
    /// The row as a value whose members have the names of the columns: `select created_at as "createdAt"`.
    ///
    /// A member that is an object is a column of JSON, or several columns: `apns_status as "apns.status"`. It is `nil`
    /// if all of them are NULL. An `array` of texts or words is a list. A UUID may be a text, then in lower case.
    ///
    /// - Throws: `PostgresError` of kind `decoding` for a column that is missing, also that of an optional member, for
    ///   NULL in place of a value, and for another type; `DecodingError` for JSON that does not fit.
    func read<Value: Decodable>(_ type: Value.Type = Value.self) throws -> Value {
        try Value(from: RowDecoder(row: self, place: .columns("")))
    }

    /// A column of JSON; `nil`: it is NULL.
    func json<Value: Decodable>(_ column: String) throws -> Value? {
        try decode(PostgresJSON?.self, column).map { try JSONValue(decoding: $0.bytes).decode() }
    }
}

extension PostgresRows {
    /// The rows as values; see `PostgresRow.read`.
    func read<Value: Decodable>(_ type: Value.Type = Value.self) throws -> [Value] { try map { try $0.read() } }
}

/// Decodes `Decodable` types from a row. `PostgresRow.read` uses it.
private struct RowDecoder: Decoder {
    enum Place {
        /// An object. Its members are the columns whose names begin with this text.
        case columns(String)
        case value(PostgresValue)
    }

    let row: PostgresRow
    let place: Place
    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy _: Key.Type) throws -> KeyedDecodingContainer<Key> {
        switch place {
        case .columns(let prefix): KeyedDecodingContainer(Members(row: row, prefix: prefix))
        case .value: throw DecodingError.fault("an object needs a column of JSON")
        }
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        throw DecodingError.fault("a list needs a column")
    }

    func singleValueContainer() -> any SingleValueDecodingContainer { self }
}

extension RowDecoder: SingleValueDecodingContainer {
    func decodeNil() -> Bool {
        switch place {
        case .columns(let prefix): row.isNull(columnsWithPrefix: prefix) ?? false
        case .value(let value): value.isNull
        }
    }

    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        guard case .value(let value) = place else { return try Value(from: self) }
        if value.has(.json) {
            let json = try value.decode(PostgresJSON.self).bytes
            if Value.self == RawJSON.self, let raw = RawJSON(unchecked: json) as? Value { return raw }
            return try JSONValue(decoding: json).decode()
        }
        if Value.self == String.self, value.has(.uuid), let text = try value.decode(UUID.self).text as? Value {
            return text
        }
        if let plain = type as? any PostgresDecodable.Type, let read = try value.decode(plain) as? Value { return read }
        // A list of words is read as a list in JSON.
        if type is any Collection.Type {
            return try JSONValue(decoding: JSONWriter.text(value.decode([String].self))).decode()
        }
        return try Value(from: self)
    }
}

extension RowDecoder {
    private struct Members<Key: CodingKey>: KeyedDecodingContainerProtocol {
        let row: PostgresRow
        let prefix: String
        var codingPath: [any CodingKey] { [] }
        var allKeys: [Key] { [] }

        private func member(_ key: Key) throws -> RowDecoder {
            let name = prefix + key.stringValue
            if let value = row.value(name) { return RowDecoder(row: row, place: .value(value)) }
            guard row.isNull(columnsWithPrefix: name + ".") != nil else {
                throw PostgresError(.decoding, "there is no column \(name)")
            }
            return RowDecoder(row: row, place: .columns(name + "."))
        }

        /// A column that is missing is an error, also that of an optional member.
        func contains(_: Key) -> Bool { true }
        func decodeNil(forKey key: Key) throws -> Bool { try member(key).decodeNil() }
        func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
            try member(key).decode(type)
        }

        func nestedContainer<Inner: CodingKey>(
            keyedBy type: Inner.Type, forKey key: Key
        ) throws -> KeyedDecodingContainer<Inner> { try member(key).container(keyedBy: type) }

        func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
            try member(key).unkeyedContainer()
        }

        func superDecoder() throws -> any Decoder { throw DecodingError.fault("a row has no class") }
        func superDecoder(forKey key: Key) throws -> any Decoder { try member(key) }
    }
}

extension PostgresRow {
    /// Reads a column as the enum or the name with the same raw value. A word that the code does not know is a decoding
    /// error, but an open enum of the contract has it as `unknown`; `check-migrations` refuses new words of states that
    /// older releases would read. This is quicker than `Decodable`, and lanes have many words.
    func word<Word: RawRepresentable<String>>(_ column: String, as type: Word.Type = Word.self) throws -> Word {
        let text: String = try decode(column)
        if let word = Word(rawValue: text) { return word }
        throw PostgresError(.decoding, "column \(column) holds \(text), which this version of Grandstand does not know")
    }

    func optionalWord<Word: RawRepresentable<String>>(_ column: String) throws -> Word? {
        value(column)?.isNull == true ? nil : try word(column)
    }

    func decode<Value: PostgresDecodable>(_ column: String) throws -> Value { try decode(Value.self, column) }
}
