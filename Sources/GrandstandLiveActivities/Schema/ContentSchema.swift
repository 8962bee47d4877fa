public import Foundation

/// The contents that an app can decode: the JSON Schema of a `ContentState`, derived from the type's own `init(from:)`.
///
/// A test of the app writes the schema to a file, which is uploaded with each version of the app. After the upload, the
/// server refuses contents that this version cannot decode.
///
///     let schema = try ContentSchema.of(MatchAttributes.ContentState.self)
///     try schema.json.write(to: URL(filePath: "MatchAttributes.schema.json"))
public struct ContentSchema: Sendable, Hashable, CustomStringConvertible {
    /// The schema, a JSON object.
    public let json: Data

    /// Derives the schema of a type.
    ///
    /// The type may consist of numbers, `Bool`, `String`, `Date`, `UUID`, `URL`, `Decimal`, optionals, arrays, sets,
    /// dictionaries with `String` keys, enums with raw values, and types made of these. The schema uses the coding keys
    /// of the types. A `Date` is the number of seconds since 2001, as in `JSONDecoder`.
    ///
    /// - Throws: `Unrecordable` if the type's `init(from:)` depends on the values it finds.
    public static func of<Content: Decodable>(_ type: Content.Type) throws -> ContentSchema {
        let recording = SchemaRecording()
        let shape = try recording.shape(of: type, within: [])
        return ContentSchema(json: Data(recording.text(of: shape).utf8))
    }

    /// Why no schema can be derived from a type.
    public struct Unrecordable: Error, Sendable, CustomStringConvertible {
        /// The type, such as `Stadium.Score`.
        public let type: String
        /// The behaviour of the type that prevents a schema.
        public let reason: String

        init(_ type: Any.Type, _ reason: String) {
            self.type = String(reflecting: type)
            self.reason = reason
        }

        /// The type and the reason as one sentence.
        public var description: String { "\(type) \(reason)" }
    }

    /// The schema as JSON text.
    public var description: String { String(decoding: json, as: UTF8.self) }
}

/// The shape that a decoder expects at one place.
indirect enum SchemaShape: Hashable {
    case bool
    case string(format: String?)
    case number(format: String?)
    case integer(minimum: String, maximum: String)
    /// A JSON value that is one of these texts.
    case choice([String], type: String)
    case any
    case array(SchemaShape)
    case map(SchemaShape)
    case object([Member])
    case nullable(SchemaShape)
    /// A type that contains itself, by its name in `$defs`.
    case reference(String)

    struct Member: Hashable {
        var name: String
        var shape: SchemaShape
        var isRequired: Bool
    }

    var text: String {
        switch self {
        case .bool: #"{"type":"boolean"}"#
        case .string(let format): Self.typed("string", format)
        case .number(let format): Self.typed("number", format)
        case .integer(let minimum, let maximum): #"{"type":"integer","minimum":\#(minimum),"maximum":\#(maximum)}"#
        case .choice(let texts, let type): #"{"type":"\#(type)","enum":[\#(texts.joined(separator: ","))]}"#
        case .any: "{}"
        case .array(let items): #"{"type":"array","items":\#(items.text)}"#
        case .map(let values): #"{"type":"object","additionalProperties":\#(values.text)}"#
        case .object(let members): Self.object(members)
        case .nullable(let shape): #"{"anyOf":[\#(shape.text),{"type":"null"}]}"#
        case .reference(let name): ##"{"$ref":"#/$defs/\##(name)"}"##
        }
    }

    private static func typed(_ type: String, _ format: String?) -> String {
        #"{"type":"\#(type)"\#(format.map { #","format":"\#($0)""# } ?? "")}"#
    }

    private static func object(_ members: [Member]) -> String {
        let properties = members.map { "\(quoted($0.name)):\($0.shape.text)" }.joined(separator: ",")
        let required = members.filter(\.isRequired).map { quoted($0.name) }.joined(separator: ",")
        return #"{"type":"object","properties":{\#(properties)},"required":[\#(required)]}"#
    }

    static func quoted(_ text: String) -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .withoutEscapingSlashes
        return (try? encoder.encode(text)).map { String(decoding: $0, as: UTF8.self) } ?? "\"\""
    }
}
