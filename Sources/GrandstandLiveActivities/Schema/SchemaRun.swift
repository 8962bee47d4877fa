internal import Foundation

/// The decoder for one run of a type's `init(from:)`. It records which values `init(from:)` asks for, and answers with
/// sample values.
final class SchemaRun: Decoder {
    let type: any Decodable.Type
    /// The number of the run. It selects the sample values.
    let trial: Int
    let depth: Int
    private let recording: SchemaRecording
    private let outer: [any Decodable.Type]
    /// The index of the ask that is answered with an error; `nil`: no ask is answered with an error.
    private let failing: Int?
    /// The answer if the type decodes a single value without members; `nil`: the answer is a sample value.
    private let fixed: Any?
    private(set) var asks: [SchemaAsk] = []
    /// Whether the type asked for an object.
    private(set) var isObject = false
    /// Why the type cannot be recorded. The error is kept here, because the type's `init(from:)` may catch it.
    private(set) var failure: ContentSchema.Unrecordable?

    /// The maximum depth to which sample values are nested.
    static let deepest = 4

    init(
        _ type: any Decodable.Type, trial: Int, recording: SchemaRecording, outer: [any Decodable.Type],
        failing: Int? = nil, fixed: Any? = nil, depth: Int = 0
    ) {
        self.type = type
        self.trial = trial
        self.recording = recording
        self.outer = outer
        self.failing = failing
        self.fixed = fixed
        self.depth = depth
    }

    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        isObject = true
        return KeyedDecodingContainer(SchemaMembers<Key>(run: self, path: []))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        throw refuse("reads an array element by element.")
    }

    func singleValueContainer() throws -> any SingleValueDecodingContainer { SchemaValue(run: self) }

    /// Records that the type cannot be recorded.
    func refuse(_ reason: String) -> ContentSchema.Unrecordable {
        let refusal = ContentSchema.Unrecordable(type, reason)
        failure = failure ?? refusal
        return refusal
    }

    /// Records an ask and answers it.
    func answer<Value: Decodable>(_ type: Value.Type, at path: [String]?, isOptional: Bool = false) throws -> Value {
        do {
            let shape = try recording.shape(of: type, within: outer)
            try note(SchemaAsk(path: path, shape: isOptional ? .nullable(shape) : shape, isOptional: isOptional))
        } catch let error as ContentSchema.Unrecordable {
            failure = failure ?? error
            throw error
        }
        if path == nil, let fixed = fixed as? Value { return fixed }
        return try value(type)
    }

    func note(_ ask: SchemaAsk) throws {
        asks.append(ask)
        guard asks.count - 1 == failing else { return }
        throw DecodingError.typeMismatch(
            type, .init(codingPath: [], debugDescription: "an error on purpose for \(ask.words)"))
    }

    /// A sample value of a type.
    func value<Value: Decodable>(_ type: Value.Type) throws -> Value {
        if let leaf = SchemaLeaf.value(type, trial: trial) { return leaf }
        let inner = SchemaRun(type, trial: trial, recording: recording, outer: outer + [type], depth: depth + 1)
        if let optional = type as? any SchemaOptional.Type, let value = try optional.make(inner) as? Value {
            return value
        }
        if let array = type as? any SchemaArray.Type, let value = try array.make(inner) as? Value { return value }
        if let map = type as? any SchemaMap.Type, let value = try map.make(inner) as? Value { return value }
        if let raw = type as? any RawRepresentable.Type, let value = Self.someCase(raw, trial) as? Value {
            return value
        }
        return try Value(from: inner)
    }

    private static func someCase<Raw: RawRepresentable>(_ type: Raw.Type, _ trial: Int) -> Any? {
        guard let cases = SchemaCases.all(of: type), !cases.isEmpty else { return nil }
        return cases[trial % cases.count]
    }

    func value<Value>(any type: Value.Type) throws -> Value {
        guard let decodable = type as? any Decodable.Type, let value = try opened(decodable) as? Value else {
            throw refuse("contains values that are not Decodable.")
        }
        return value
    }

    private func opened<Value: Decodable>(_ type: Value.Type) throws -> Any { try value(type) as Any }
}

/// The members of an object.
private struct SchemaMembers<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let run: SchemaRun
    let path: [String]

    var codingPath: [any CodingKey] { [] }

    var allKeys: [Key] {
        _ = run.refuse("looks at the names of the members.")
        return []
    }

    func contains(_ key: Key) -> Bool {
        _ = run.refuse("checks whether the member \(key.stringValue) exists.")
        return true
    }

    func decodeNil(forKey key: Key) throws -> Bool {
        throw run.refuse("checks whether the member \(key.stringValue) is null.")
    }

    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
        try run.answer(type, at: path + [key.stringValue])
    }

    func decodeIfPresent<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value? {
        let value = try run.answer(type, at: path + [key.stringValue], isOptional: true)
        return run.trial % 2 == 1 ? value : nil
    }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<Nested> {
        let path = path + [key.stringValue]
        try run.note(SchemaAsk(path: path, shape: .object([]), isContainer: true))
        return KeyedDecodingContainer(SchemaMembers<Nested>(run: run, path: path))
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        throw run.refuse("reads the array \(key.stringValue) element by element.")
    }

    func superDecoder() throws -> any Decoder { throw run.refuse("decodes a superclass.") }
    func superDecoder(forKey key: Key) throws -> any Decoder { throw run.refuse("decodes a superclass.") }

    // The compiler calls these methods for optional members of the types `Bool`, `String` and numbers.
    func decodeIfPresent(_ type: Bool.Type, forKey key: Key) throws -> Bool? { try optional(type, key) }
    func decodeIfPresent(_ type: String.Type, forKey key: Key) throws -> String? { try optional(type, key) }
    func decodeIfPresent(_ type: Double.Type, forKey key: Key) throws -> Double? { try optional(type, key) }
    func decodeIfPresent(_ type: Float.Type, forKey key: Key) throws -> Float? { try optional(type, key) }
    func decodeIfPresent(_ type: Int.Type, forKey key: Key) throws -> Int? { try optional(type, key) }
    func decodeIfPresent(_ type: Int8.Type, forKey key: Key) throws -> Int8? { try optional(type, key) }
    func decodeIfPresent(_ type: Int16.Type, forKey key: Key) throws -> Int16? { try optional(type, key) }
    func decodeIfPresent(_ type: Int32.Type, forKey key: Key) throws -> Int32? { try optional(type, key) }
    func decodeIfPresent(_ type: Int64.Type, forKey key: Key) throws -> Int64? { try optional(type, key) }
    func decodeIfPresent(_ type: UInt.Type, forKey key: Key) throws -> UInt? { try optional(type, key) }
    func decodeIfPresent(_ type: UInt8.Type, forKey key: Key) throws -> UInt8? { try optional(type, key) }
    func decodeIfPresent(_ type: UInt16.Type, forKey key: Key) throws -> UInt16? { try optional(type, key) }
    func decodeIfPresent(_ type: UInt32.Type, forKey key: Key) throws -> UInt32? { try optional(type, key) }
    func decodeIfPresent(_ type: UInt64.Type, forKey key: Key) throws -> UInt64? { try optional(type, key) }

    private func optional<Value: Decodable>(_ type: Value.Type, _ key: Key) throws -> Value? {
        let value = try run.answer(type, at: path + [key.stringValue], isOptional: true)
        return run.trial % 2 == 1 ? value : nil
    }
}

/// Reads the value itself.
private struct SchemaValue: SingleValueDecodingContainer {
    let run: SchemaRun

    var codingPath: [any CodingKey] { [] }

    func decodeNil() -> Bool {
        _ = run.refuse("checks whether its value is null.")
        return false
    }

    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value { try run.answer(type, at: nil) }
}
