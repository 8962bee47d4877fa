internal import Foundation

/// Derives the shapes of types by running their own `init(from:)`.
final class SchemaRecording {
    /// The shapes of types that contain themselves, by name in `$defs`.
    private var definitions: [String: SchemaShape] = [:]
    private var names: [ObjectIdentifier: String] = [:]

    typealias Unrecordable = ContentSchema.Unrecordable

    /// - Parameter outer: the types that contain `type`.
    func shape(of type: any Decodable.Type, within outer: [any Decodable.Type]) throws -> SchemaShape {
        if let leaf = SchemaLeaf.shape(of: type) { return leaf }
        if type == Data.self { throw Unrecordable(type, "is text in base64, which the schema cannot describe.") }
        if let optional = type as? any SchemaOptional.Type {
            return .nullable(try shape(of: optional.wrapped(for: type), within: outer))
        }
        if let array = type as? any SchemaArray.Type {
            return .array(try shape(of: array.element(for: type), within: outer))
        }
        if let map = type as? any SchemaMap.Type { return .map(try shape(of: map.value(for: type), within: outer)) }
        if let raw = type as? any (RawRepresentable & Decodable).Type, let choice = try choice(raw) { return choice }
        let identity = ObjectIdentifier(type)
        if outer.contains(where: { $0 == type }) {
            let name = names[identity] ?? "T\(names.count + 1)"
            names[identity] = name
            return .reference(name)
        }
        let shape = try record(type, within: outer + [type])
        guard let name = names[identity] else { return shape }
        definitions[name] = shape
        return .reference(name)
    }

    /// The text of the whole schema.
    func text(of shape: SchemaShape) -> String {
        guard !definitions.isEmpty else { return shape.text }
        let texts = definitions.sorted { $0.key < $1.key }.map { "\"\($0.key)\":\($0.value.text)" }
        return String(shape.text.dropLast()) + ",\"$defs\":{\(texts.joined(separator: ","))}}"
    }

    // MARK: Types made of others

    private static let trials = 0..<4

    private func record(_ type: any Decodable.Type, within outer: [any Decodable.Type]) throws -> SchemaShape {
        var asked: [SchemaAsk]?
        var isObject = false
        for trial in Self.trials {
            let run = SchemaRun(type, trial: trial, recording: self, outer: outer)
            do {
                _ = try type.init(from: run)
            } catch {
                throw run.failure
                    ?? Unrecordable(
                        type,
                        "refuses a sample value, so the values that it accepts are unknown: \(error)")
            }
            if let failure = run.failure { throw failure }
            isObject = run.isObject
            guard let first = asked else {
                asked = run.asks
                continue
            }
            guard first == run.asks else {
                throw Unrecordable(type, "reads different members, depending on the values it finds.")
            }
        }
        let asks = asked ?? []
        // A struct without members decodes from any value, unless its `init(from:)` asks for an object.
        guard !asks.isEmpty else { return isObject ? .object([]) : .any }
        for index in asks.indices {
            let run = SchemaRun(type, trial: 1, recording: self, outer: outer, failing: index)
            if (try? type.init(from: run)) != nil {
                throw Unrecordable(type, "ignores the error when \(asks[index].words) cannot be decoded.")
            }
        }
        return try Self.shape(asks, of: type)
    }

    private static func shape(_ asks: [SchemaAsk], of type: any Decodable.Type) throws -> SchemaShape {
        if let first = asks.first, first.path == nil {
            guard asks.allSatisfy({ $0 == first }) else {
                throw Unrecordable(type, "decodes the same value as several types.")
            }
            return first.shape
        }
        return try object(asks.map { ($0.path ?? [], $0) }, of: type)
    }

    private static func object(
        _ asks: [(path: [String], ask: SchemaAsk)], of type: any Decodable.Type
    ) throws -> SchemaShape {
        var members: [SchemaShape.Member] = []
        for name in asks.compactMap(\.path.first) where !members.contains(where: { $0.name == name }) {
            let own = asks.filter { $0.path.first == name }
            let direct = own.filter { $0.path.count == 1 }
            guard let first = direct.first else {
                let nested = own.map { (path: Array($0.path.dropFirst()), ask: $0.ask) }
                members.append(.init(name: name, shape: try object(nested, of: type), isRequired: true))
                continue
            }
            if first.ask.isContainer {
                let nested = own.filter { $0.path.count > 1 }.map { (path: Array($0.path.dropFirst()), ask: $0.ask) }
                members.append(.init(name: name, shape: try object(nested, of: type), isRequired: true))
                continue
            }
            guard direct.count == own.count, direct.allSatisfy({ $0.ask == first.ask }) else {
                throw Unrecordable(type, "decodes the member \(name) as several types.")
            }
            members.append(.init(name: name, shape: first.ask.shape, isRequired: !first.ask.isOptional))
        }
        return .object(members)
    }

    // MARK: Enums with raw values

    /// - Returns: `nil` if the type is not an enum, or has its own way of decoding.
    private func choice<Raw: RawRepresentable & Decodable>(_ type: Raw.Type) throws -> SchemaShape? {
        guard let cases = SchemaCases.all(of: type) else { return nil }
        let raws = cases.map(\.rawValue)
        guard let texts = SchemaCases.texts(raws), let unknown = SchemaCases.unknown(to: raws) else { return nil }
        for raw in raws {
            let run = SchemaRun(type, trial: 0, recording: self, outer: [type], fixed: raw)
            guard let read = try? Raw(from: run), run.asks.count == 1, run.asks.first?.path == nil,
                SchemaCases.texts([read.rawValue]) == SchemaCases.texts([raw])
            else { return nil }
        }
        let run = SchemaRun(type, trial: 0, recording: self, outer: [type], fixed: unknown)
        // An enum that decodes unknown values as one of its cases is recorded like any other type.
        guard (try? Raw(from: run)) == nil else { return nil }
        return .choice(texts, type: SchemaCases.type(of: raws))
    }
}

/// A value that a type's `init(from:)` asked for.
struct SchemaAsk: Hashable {
    /// The path of member names; `nil`: the type decodes a single value without members.
    var path: [String]?
    var shape: SchemaShape
    var isOptional = false
    /// Whether the value is an object whose members are asked for one by one.
    var isContainer = false

    var words: String { path.map { "the member \($0.joined(separator: "."))" } ?? "its value" }
}

/// Numbers, strings, and the Foundation types that `JSONDecoder` treats specially.
enum SchemaLeaf {
    static func shape(of type: any Decodable.Type) -> SchemaShape? {
        switch type {
        case is Bool.Type: .bool
        case is String.Type: .string(format: nil)
        case is Double.Type, is Date.Type: .number(format: nil)
        case is Float.Type: .number(format: "float")
        case is Decimal.Type: .number(format: "decimal")
        case is UUID.Type: .string(format: "uuid")
        case is URL.Type: .string(format: "uri-reference")
        default: (type as? any FixedWidthInteger.Type).map { bounds($0) }
        }
    }

    private static func bounds<Number: FixedWidthInteger>(_ type: Number.Type) -> SchemaShape {
        .integer(minimum: String(Number.min), maximum: String(Number.max))
    }

    /// A sample value of the type.
    static func value<Value>(_ type: Value.Type, trial: Int) -> Value? {
        let value: Any? =
            switch type {
            case is Bool.Type: trial % 2 == 1
            case is String.Type: ["", "a", "ä b", "0"][trial % 4]
            case is Double.Type: [0, 1.5, -1, 1e6][trial % 4] as Double
            case is Float.Type: [0, 1.5, -1, 1e6][trial % 4] as Float
            case is Decimal.Type: Decimal(trial)
            case is Date.Type: Date(timeIntervalSinceReferenceDate: Double(trial) * 1e8)
            case is UUID.Type: UUID()
            case is URL.Type: URL(string: "https://example.com/\(trial)")
            default: (type as? any FixedWidthInteger.Type).map { number($0, trial: trial) }
            }
        return value as? Value
    }

    private static func number<Number: FixedWidthInteger>(_ type: Number.Type, trial: Int) -> Any {
        // The type annotation is necessary. Without the annotation, the array is an array of `Any`, and its 1 is an
        // `Int`.
        let values: [Number] = [0, 1, Number.isSigned ? Number.min : 2, Number.max]
        return values[trial % 4]
    }
}

/// The cases of an enum with raw values.
enum SchemaCases {
    /// - Returns: `nil` if the type is not an enum, or its cases cannot be counted.
    static func all<Raw: RawRepresentable>(of type: Raw.Type) -> [Raw]? {
        if let iterable = type as? any CaseIterable.Type { return listed(iterable) as? [Raw] }
        // The runtime's metadata of an enum contains the number of its cases. Cases without payloads are numbered from
        // 0.
        let metadata = unsafeBitCast(type, to: UnsafeRawPointer.self)
        guard metadata.load(as: Int.self) == 0x201, MemoryLayout<Raw>.size <= 1 else { return nil }
        let description = metadata.load(fromByteOffset: MemoryLayout<Int>.size, as: UnsafeRawPointer.self)
        guard description.load(fromByteOffset: 20, as: UInt32.self) & 0xFF_FFFF == 0 else { return nil }
        let count = Int(description.load(fromByteOffset: 24, as: UInt32.self))
        guard (1...256).contains(count), MemoryLayout<Raw>.size == (count > 1 ? 1 : 0) else { return nil }
        if MemoryLayout<Raw>.size == 0 { return [unsafeBitCast((), to: type)] }
        return (0..<count).map { unsafeBitCast(UInt8($0), to: type) }
    }

    private static func listed<Cases: CaseIterable>(_ type: Cases.Type) -> [Any] { Array(type.allCases) }

    /// The JSON texts of raw values; `nil` if they are neither strings nor numbers.
    static func texts<Raw>(_ raws: [Raw]) -> [String]? {
        let texts = raws.compactMap { raw -> String? in
            if let text = raw as? String { return SchemaShape.quoted(text) }
            if raw is any FixedWidthInteger || raw is Double || raw is Float { return "\(raw)" }
            return nil
        }
        return texts.count == raws.count ? texts : nil
    }

    static func type<Raw>(of raws: [Raw]) -> String {
        raws.first is String ? "string" : raws.first is any FixedWidthInteger ? "integer" : "number"
    }

    /// A raw value that belongs to no case.
    static func unknown<Raw>(to raws: [Raw]) -> Raw? {
        guard let known = texts(raws) else { return nil }
        let candidates: [Any] =
            if Raw.self is String.Type { ["\u{1}no case"] } else if let type = Raw.self as? any FixedWidthInteger.Type {
                numbers(type)
            } else if Raw.self is Float.Type { [Float(-12_345.25)] } else { [-12_345.25] }
        return candidates.compactMap { $0 as? Raw }.first { candidate in
            !known.contains(texts([candidate])?.first ?? "")
        }
    }

    private static func numbers<Number: FixedWidthInteger>(_ type: Number.Type) -> [Any] {
        (0...127).reversed().map { Number($0) as Any }
    }
}

// MARK: Types with others in them

protocol SchemaOptional {
    static func wrapped(for type: any Decodable.Type) throws -> any Decodable.Type
    static func make(_ run: SchemaRun) throws -> Self
}

extension Optional: SchemaOptional {
    static func wrapped(for type: any Decodable.Type) throws -> any Decodable.Type {
        try decodable(Wrapped.self, in: type)
    }
    static func make(_ run: SchemaRun) throws -> Self {
        guard run.trial % 2 == 1, run.depth < SchemaRun.deepest else { return nil }
        return try run.value(any: Wrapped.self)
    }
}

protocol SchemaArray {
    static func element(for type: any Decodable.Type) throws -> any Decodable.Type
    static func make(_ run: SchemaRun) throws -> Self
}

extension Array: SchemaArray {
    static func element(for type: any Decodable.Type) throws -> any Decodable.Type {
        try decodable(Element.self, in: type)
    }
    static func make(_ run: SchemaRun) throws -> Self {
        run.trial % 2 == 1 && run.depth < SchemaRun.deepest ? [try run.value(any: Element.self)] : []
    }
}

extension Set: SchemaArray {
    static func element(for type: any Decodable.Type) throws -> any Decodable.Type {
        try decodable(Element.self, in: type)
    }
    static func make(_ run: SchemaRun) throws -> Self {
        run.trial % 2 == 1 && run.depth < SchemaRun.deepest ? [try run.value(any: Element.self)] : []
    }
}

protocol SchemaMap {
    static func value(for type: any Decodable.Type) throws -> any Decodable.Type
    static func make(_ run: SchemaRun) throws -> Self
}

extension Dictionary: SchemaMap {
    static func value(for type: any Decodable.Type) throws -> any Decodable.Type {
        guard Key.self == String.self else {
            throw ContentSchema.Unrecordable(type, "has keys that are not strings.")
        }
        return try decodable(Value.self, in: type)
    }

    static func make(_ run: SchemaRun) throws -> Self {
        guard run.trial % 2 == 1, run.depth < SchemaRun.deepest, let key = "a" as? Key else { return [:] }
        return [key: try run.value(any: Value.self)]
    }
}

private func decodable(_ type: Any.Type, in outer: any Decodable.Type) throws -> any Decodable.Type {
    guard let type = type as? any Decodable.Type else {
        throw ContentSchema.Unrecordable(outer, "contains values that are not Decodable.")
    }
    return type
}
