internal import Foundation

/// The schemas of types that contain themselves.
private final class SchemaDefinitions {
    /// The schemas by name in `$defs`.
    var schemas: [String: String] = [:]
    var names: [ObjectIdentifier: String] = [:]
}

/// Derives the schemas of types by running their own `init(from:)`. A schema is a JSON text.
struct SchemaRecorder {
    private let definitions = SchemaDefinitions()
    /// The types that contain the one that is recorded.
    private var outer: [any Decodable.Type] = []

    typealias Unrecordable = ContentSchema.Unrecordable

    func schema(of type: any Decodable.Type) throws -> String {
        if let leaf = SchemaLeaf.of(type) { return leaf.schema }
        if type == Data.self {
            throw Unrecordable(type, "is text in base64, which the schema cannot describe.")
        }
        if let composite = type as? any SchemaComposite.Type { return try composite.schema(self) }
        if let cases = type as? any SchemaCases.Type, let choice = try rawCases(cases) { return choice }
        let identity = ObjectIdentifier(type)
        if outer.contains(where: { $0 == type }) {
            let name = definitions.names[identity] ?? "T\(definitions.names.count + 1)"
            definitions.names[identity] = name
            return Self.reference(name)
        }
        let schema = try within(type).record(type)
        guard let name = definitions.names[identity] else { return schema }
        definitions.schemas[name] = schema
        return Self.reference(name)
    }

    private func within(_ type: any Decodable.Type) -> SchemaRecorder {
        var inner = self
        inner.outer.append(type)
        return inner
    }

    private static func reference(_ name: String) -> String { ##"{"$ref":"#/$defs/\##(name)"}"## }

    static func nullable(_ schema: String) -> String {
        #"{"anyOf":[\#(schema),{"type":"null"}]}"#
    }

    /// The whole document of a schema.
    func document(_ schema: String) -> String {
        guard !definitions.schemas.isEmpty else { return schema }
        let texts = definitions.schemas.sorted { $0.key < $1.key }.map { "\"\($0.key)\":\($0.value)" }
        return String(schema.dropLast()) + ",\"$defs\":{\(texts.joined(separator: ","))}}"
    }

    // MARK: Types made of others

    private func record(_ type: any Decodable.Type) throws -> String {
        let runs = try [1, 2, 3, 0].map { trial in
            let run = TypeProbe(type: type, trial: trial, recording: self)
            let result = Result { try type.init(from: run) }
            if let failure = run.failure { throw failure }
            try Self.check(result, of: type)
            return run.notes.asks
        }
        let asks = runs[0]
        guard
            runs.allSatisfy({ run in
                run.count == asks.count && zip(run, asks).allSatisfy { $0.isSame(as: $1) }
            })
        else { throw Unrecordable(type, "reads different members, depending on the values it finds.") }
        for (index, ask) in asks.enumerated() {
            let run = TypeProbe(type: type, trial: 1, recording: self, failingAsk: index)
            if (try? type.init(from: run)) != nil {
                let words = Self.describe(ask.path)
                throw Unrecordable(type, "ignores the error when \(words) cannot be decoded.")
            }
        }
        // A struct without members decodes from any value.
        return asks.isEmpty ? "{}" : try Self.schema(of: asks, at: [], in: type)
    }

    private static func describe(_ path: [String]) -> String {
        path.isEmpty ? "its value" : "the member \(path.joined(separator: "."))"
    }

    /// Checks what a type made of sample values.
    private static func check(_ result: Result<any Decodable, any Error>, of type: any Decodable.Type) throws {
        let hasUnknownCases = type is any RawRepresentable.Type && !(type is any CaseIterable.Type)
        switch result {
        case .success(let value) where !hasUnknownCases || Mirror(reflecting: value).displayStyle != .enum: break
        case .failure(let error) where !hasUnknownCases:
            throw Unrecordable(type, "refuses a sample value, so the values that it accepts are unknown: \(error)")
        default:
            throw Unrecordable(
                type,
                "is not CaseIterable, so its raw values are unknown. Declare an enum with raw values CaseIterable.")
        }
    }

    /// The schema of the value at a path, from the asks for it and for its members.
    private static func schema(of asks: [SchemaAsk], at path: [String], in type: any Decodable.Type) throws -> String {
        let own = asks.filter { $0.path == path }
        let inner = asks.filter { $0.path.count > path.count && $0.path.starts(with: path) }
        guard let first = own.first, own.allSatisfy({ $0 == first }), first.schema == nil || inner.isEmpty else {
            throw Unrecordable(type, "decodes \(describe(path)) as several types.")
        }
        if let schema = first.schema { return first.isOptional ? nullable(schema) : schema }
        var (names, required) = ([String](), [String]())
        let members = try inner.filter { $0.path.count == path.count + 1 }.compactMap { ask -> String? in
            let name = String(decoding: try JSONEncoder().encode(ask.path.last), as: UTF8.self)
            guard !names.contains(name) else { return nil }
            names.append(name)
            if !ask.isOptional { required.append(name) }
            return "\(name):\(try schema(of: inner, at: ask.path, in: type))"
        }
        let (properties, needed) = (members.joined(separator: ","), required.joined(separator: ","))
        return #"{"type":"object","properties":{\#(properties)},"required":[\#(needed)]}"#
    }

    // MARK: Enums with raw values

    /// - Returns: `nil` if the raw values are neither texts nor numbers, or the type has its own way of decoding.
    private func rawCases<Cases: SchemaCases>(_ type: Cases.Type) throws -> String? {
        let raws = type.allCases.map(\.rawValue)
        let texts = try raws.compactMap(Self.json)
        guard texts.count == raws.count, let leaf = SchemaLeaf.of(Cases.RawValue.self),
            let unknown = try leaf.samples.first(where: { try Self.json($0).map { !texts.contains($0) } ?? false })
        else { return nil }
        for (raw, text) in zip(raws, texts) {
            let run = TypeProbe(type: type, trial: 0, recording: within(type), fixedValue: raw)
            guard let read = try? type.init(from: run), run.notes.asks.map(\.path) == [[]],
                try Self.json(read.rawValue) == text
            else { return nil }
        }
        // An enum that decodes unknown values as one of its cases is recorded like any other type.
        let run = TypeProbe(type: type, trial: 0, recording: within(type), fixedValue: unknown)
        guard (try? type.init(from: run)) == nil else { return nil }
        return #"{"type":"\#(leaf.type)","enum":[\#(texts.joined(separator: ","))]}"#
    }

    /// The JSON text of a raw value; `nil` if it is neither a text nor a number.
    private static func json(_ raw: Any) throws -> String? {
        if let text = raw as? String { return String(decoding: try JSONEncoder().encode(text), as: UTF8.self) }
        return raw is any FixedWidthInteger || raw is Double || raw is Float ? "\(raw)" : nil
    }
}
