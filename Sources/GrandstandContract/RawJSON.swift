package import JSON

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// A JSON value that keeps its bytes: numbers, escapes and white space are written as they were read.
///
/// For example, a content state is a `RawJSON`: `RawJSON(Score(home: 1, away: 0))`, or
/// `RawJSON(json: #"{"home": 1}"#)`.
public struct RawJSON: Sendable, Hashable, CustomStringConvertible {
    /// The text, in UTF-8.
    public let bytes: Data

    /// Encodes a value as JSON.
    ///
    /// - Parameter encoder: says how to write dates and similar values; the app's decoder has to agree with it. Without
    ///   an encoder, members are sorted by name, so that equal values give equal bytes.
    /// - Throws: the errors of the value's encoding.
    public init(_ value: some Encodable, encoder: JSONEncoder? = nil) throws {
        let stable = JSONEncoder()
        stable.outputFormatting = .sortedKeys
        bytes = try (encoder ?? stable).encode(value)
    }

    /// A text that is JSON already.
    ///
    /// - Throws: `DecodingError` for a text that is not one JSON value.
    public init(json text: some StringProtocol) throws { try self.init(json: Data(text.utf8)) }

    /// Bytes that are JSON already.
    ///
    /// - Throws: `DecodingError` for bytes that are not one JSON value.
    public init(json bytes: Data) throws {
        _ = try JSONValue(decoding: bytes)
        self.bytes = bytes
    }

    /// Bytes that a scanner has found to be one JSON value.
    package init(unchecked bytes: some Sequence<UInt8>) { self.bytes = Data(bytes) }

    /// The text of a value of the contract, such as an alert.
    package init(writing value: some Encodable) { self.init(unchecked: JSONWriter.text(value)) }

    /// The text as bytes, for code that does not use Foundation.
    package var utf8: [UInt8] { Array(bytes) }

    /// The parsed JSON.
    ///
    /// - Throws: `DecodingError`.
    package var value: JSONValue { get throws { try JSONValue(decoding: bytes) } }

    /// Decodes the JSON as a value.
    ///
    /// - Parameter decoder: must have the same settings as the encoder that wrote the JSON. Without a decoder, a date is
    ///   a number, as `JSONEncoder` writes it, or a text, as the API does.
    /// - Throws: `DecodingError`.
    public func decode<Value: Decodable>(
        _ type: Value.Type = Value.self, decoder: JSONDecoder? = nil
    ) throws -> Value {
        let standard = JSONDecoder()
        standard.dateDecodingStrategy = .custom { decoder in
            let container = try decoder.singleValueContainer()
            if let text = try? container.decode(String.self), let date = RFC3339.date(text) { return date }
            return Date(timeIntervalSinceReferenceDate: try container.decode(Double.self))
        }
        return try (decoder ?? standard).decode(type, from: bytes)
    }

    /// The text.
    public var description: String { String(decoding: bytes, as: UTF8.self) }
}

extension RawJSON {
    /// An alert, for a broadcast or a start. It needs a title or a body.
    public static func alert(
        title: Contract.LocalizedText? = nil, body: Contract.LocalizedText? = nil, sound: String? = nil
    ) -> RawJSON { RawJSON(writing: Contract.Alert(title: title, body: body, sound: sound)) }

    /// A number, such as a relevance score.
    public static func number(_ number: Double) -> RawJSON { RawJSON(writing: number) }
}

// The codec of the API keeps the bytes. Other encoders and decoders have none, so they get the value.
extension RawJSON: Codable {
    /// Decodes the value, and writes it as JSON.
    public init(from decoder: any Decoder) throws {
        if let reader = decoder as? ValueDecoder {
            self.init(unchecked: reader.value.source)
            return
        }
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self.init(unchecked: "null".utf8)
        } else if let flag = try? container.decode(Bool.self) {
            self.init(writing: flag)
        } else if let number = try? container.decode(Int.self) {
            self.init(writing: number)
        } else if let number = try? container.decode(Double.self) {
            self.init(writing: number)
        } else if let text = try? container.decode(String.self) {
            self.init(writing: text)
        } else if let elements = try? container.decode([RawJSON].self) {
            self.init(writing: elements)
        } else {
            self.init(writing: try container.decode([String: RawJSON].self))
        }
    }

    /// Parses the JSON, and encodes the value.
    public func encode(to encoder: any Encoder) throws {
        if let sink = encoder as? JSONTextEncoder { return sink.write(raw: bytes) }
        var container = encoder.singleValueContainer()
        let value = try self.value
        switch value.kind {
        case .null: try container.encodeNil()
        case .bool(let flag): try container.encode(flag)
        case .number(let text):
            if let number = Int(text) {
                try container.encode(number)
            } else {
                try container.encode(value.decode(Double.self))
            }
        case .string(let text): try container.encode(text)
        case .array(let elements): try container.encode(elements.map { RawJSON(unchecked: $0.source) })
        case .object(let members):
            let values = members.map { ($0.name, RawJSON(unchecked: $0.value.source)) }
            try container.encode(Dictionary(values) { first, _ in first })
        }
    }
}
