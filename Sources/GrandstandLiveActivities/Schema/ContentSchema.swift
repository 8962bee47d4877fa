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
    /// An enum with raw values must be `CaseIterable`, because Swift lists the cases of no other enum. If the enum has
    /// an `allCases` of its own, it must contain every case.
    ///
    ///     enum Period: String, Codable, CaseIterable { case first, second, fullTime }
    ///
    /// - Throws: `Unrecordable` if the type's `init(from:)` depends on the values it finds, or if an enum is not
    ///   `CaseIterable`.
    public static func of<Content: Decodable>(_ type: Content.Type) throws -> ContentSchema {
        let recording = SchemaRecorder()
        let schema = try recording.schema(of: type)
        return ContentSchema(json: Data(recording.document(schema).utf8))
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
