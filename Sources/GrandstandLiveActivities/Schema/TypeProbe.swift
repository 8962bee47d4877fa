/// A value that a type's `init(from:)` asked for.
struct SchemaAsk: Hashable {
    /// The names of members that lead to the value; empty: the type decodes a single value without members.
    var path: [String]
    /// `nil`: an object whose members are asked for one by one, or an optional member that was not found.
    var schema: String?
    var isOptional = false

    /// Whether another run, in which all members were found, asked for the same value.
    func isSame(as other: SchemaAsk) -> Bool {
        var found = self
        if isOptional { found.schema = schema ?? other.schema }
        return found == other
    }
}

/// What a run of a type's `init(from:)` asked for.
final class SchemaNotes {
    var asks: [SchemaAsk] = []
    /// Why the type cannot be recorded. The error is kept here, because the type's `init(from:)` may catch it.
    var refusal: ContentSchema.Unrecordable?
    /// The member that the type is reading as an optional one: whether it exists, whether it is null, then its value.
    var optional: (path: [String], isChecked: Bool)?
}

/// The decoder for one run of a type's `init(from:)`. It records which values `init(from:)` asks for, and answers with
/// sample values.
struct TypeProbe: Decoder {
    let type: any Decodable.Type
    /// The number of the run, from 0 to 3. It selects the sample values. In run 0 optional members are missing, in run
    /// 2 they are null.
    let trial: Int
    var depth = 0
    /// `nil`: only the value is needed, as a sample within another type.
    var recording: SchemaRecorder?
    /// The index of the ask that is answered with an error; `nil`: no ask is answered with an error.
    var failingAsk: Int?
    /// The answer if the type decodes a single value without members; `nil`: the answer is a sample value.
    var fixedValue: Any?
    let notes = SchemaNotes()

    /// The maximum depth to which sample values are nested.
    private static let maxDepth = 4

    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }
    /// Whether optionals and collections of the sample have a value.
    var isFilled: Bool { !trial.isMultiple(of: 2) && depth < Self.maxDepth }
    /// Why the type cannot be recorded; `nil`: nothing in this run prevents it.
    var failure: ContentSchema.Unrecordable? {
        if let optional = notes.optional {
            _ = refuse("checks whether the member \(optional.path.joined(separator: ".")) exists.")
        }
        return notes.refusal
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        try container(at: [])
    }

    func container<Key: CodingKey>(at path: [String]) throws -> KeyedDecodingContainer<Key> {
        try note(SchemaAsk(path: path))
        return KeyedDecodingContainer(SchemaKeyedContainer(run: self, path: path))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        throw refuse("reads an array element by element.")
    }

    func singleValueContainer() throws -> any SingleValueDecodingContainer { SchemaValueContainer(run: self) }

    /// Records that the type cannot be recorded.
    func refuse(_ reason: String) -> ContentSchema.Unrecordable {
        let failure = notes.refusal ?? ContentSchema.Unrecordable(type, reason)
        notes.refusal = failure
        return failure
    }

    /// Answers whether a member exists. `decodeIfPresent` of the standard library asks this first, then whether the
    /// member is null, then for its value. In any other order the question is refused.
    func contains(_ path: [String]) -> Bool {
        guard failure == nil, depth < Self.maxDepth, trial != 0 else {
            notes.asks.append(SchemaAsk(path: path, isOptional: true))
            return false
        }
        notes.optional = (path, false)
        return true
    }

    func isNull(_ path: [String]) throws -> Bool {
        guard let asked = notes.optional, asked.path == path, !asked.isChecked else {
            throw refuse("checks whether the member \(path.joined(separator: ".")) is null.")
        }
        notes.optional = isFilled ? (path, true) : nil
        if !isFilled { notes.asks.append(SchemaAsk(path: path, isOptional: true)) }
        return !isFilled
    }

    /// Records an ask for a value and answers it.
    func answer<Value: Decodable>(_ type: Value.Type, at path: [String]) throws -> Value {
        let isOptional = notes.optional.map { $0.path == path && $0.isChecked } ?? false
        if isOptional { notes.optional = nil }
        if let failure { throw failure }
        if let recording {
            do {
                let schema = try recording.schema(of: type)
                try note(SchemaAsk(path: path, schema: schema, isOptional: isOptional))
            } catch let error as ContentSchema.Unrecordable {
                notes.refusal = error
                throw error
            }
        }
        if path.isEmpty, let fixed = fixedValue as? Value { return fixed }
        return try sample(type)
    }

    func note(_ ask: SchemaAsk) throws {
        notes.asks.append(ask)
        guard notes.asks.count - 1 == failingAsk else { return }
        throw DecodingError.typeMismatch(type, .init(codingPath: [], debugDescription: "an error on purpose"))
    }

    /// A sample value of a type.
    func sample<Value: Decodable>(_ type: Value.Type) throws -> Value {
        let run = TypeProbe(type: type, trial: trial, depth: depth + 1)
        var sample: Any? = SchemaLeaf.of(type)?.samples[trial]
        if let composite = type as? any SchemaComposite.Type { sample = try composite.sample(run) }
        if let cases = type as? any SchemaCases.Type { sample = Self.someCase(cases, trial) }
        return try sample as? Value ?? Value(from: run)
    }

    private static func someCase<Cases: SchemaCases>(_ type: Cases.Type, _ trial: Int) -> Any? {
        let cases = Array(type.allCases)
        return cases.isEmpty ? nil : cases[trial % cases.count]
    }
}

/// The members of an object.
private struct SchemaKeyedContainer<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let run: TypeProbe
    let path: [String]

    var codingPath: [any CodingKey] { [] }

    var allKeys: [Key] {
        _ = run.refuse("looks at the names of the members.")
        return []
    }

    func contains(_ key: Key) -> Bool { run.contains(path + [key.stringValue]) }

    func decodeNil(forKey key: Key) throws -> Bool { try run.isNull(path + [key.stringValue]) }

    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
        try run.answer(type, at: path + [key.stringValue])
    }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<Nested> { try run.container(at: path + [key.stringValue]) }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        throw run.refuse("reads the array \(key.stringValue) element by element.")
    }

    func superDecoder() throws -> any Decoder { throw run.refuse("decodes a superclass.") }
    func superDecoder(forKey key: Key) throws -> any Decoder { throw run.refuse("decodes a superclass.") }
}

/// Reads the value itself.
private struct SchemaValueContainer: SingleValueDecodingContainer {
    let run: TypeProbe

    var codingPath: [any CodingKey] { [] }

    func decodeNil() -> Bool {
        _ = run.refuse("checks whether its value is null.")
        return false
    }

    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value { try run.answer(type, at: []) }
}
