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
        bytes = try CodableJSON.encode(value, with: encoder ?? CodableJSON.stableEncoder())
    }

    /// A text that is JSON already.
    ///
    /// - Throws: `DecodingError` for a text that is not one JSON value.
    public init(json text: some StringProtocol) throws { try self.init(json: Data(text.utf8)) }

    /// Bytes that are JSON already.
    ///
    /// - Throws: `DecodingError` for bytes that are not one JSON value.
    public init(json bytes: Data) throws {
        do {
            var scanner = try JSONScanner(Array(bytes), maximumDepth: 512)
            try scanner.skip(try scanner.start())
            try scanner.finish()
        } catch {
            throw DecodingError.dataCorrupted(
                .init(codingPath: [], debugDescription: "\(error.detail), at byte \(error.offset)"))
        }
        self.bytes = bytes
    }

    /// Bytes that a scanner has found to be one JSON value.
    package init(unchecked bytes: some Sequence<UInt8>) { self.bytes = Data(bytes) }

    /// The text of a value of the contract.
    package init(writing value: some JSONWritable) { self.init(unchecked: JSONWriter.text(value)) }

    /// The parsed JSON.
    ///
    /// - Throws: `DecodingError`.
    package var value: JSONValue { get throws { try JSONValue(decoding: bytes) } }

    /// Decodes the JSON as a value.
    ///
    /// - Parameter decoder: must have the same settings as the encoder that wrote the JSON.
    /// - Throws: `DecodingError`.
    public func decode<Value: Decodable>(
        _ type: Value.Type = Value.self, decoder: JSONDecoder = JSONDecoder()
    ) throws -> Value {
        try decoder.decode(type, from: bytes)
    }

    /// The text.
    public var description: String { String(decoding: bytes, as: UTF8.self) }
}

extension RawJSON: Codable {
    /// When the client decodes an answer (`CodableJSON`), keeps the bytes. With any other decoder, decodes the value
    /// and encodes it again.
    public init(from decoder: any Decoder) throws {
        if let source = decoder.userInfo[JSONSource.key] as? JSONSource {
            bytes = try source.bytes(at: decoder.codingPath)
        } else {
            bytes = try JSONEncoder().encode(try JSONTree(from: decoder))
        }
    }

    /// When the client encodes a body (`CodableJSON`), the bytes stay unchanged. With any other encoder, the value is
    /// encoded again.
    public func encode(to encoder: any Encoder) throws {
        if let pieces = encoder.userInfo[JSONPieces.key] as? JSONPieces {
            var container = encoder.singleValueContainer()
            try container.encode(pieces.mark(for: bytes))
        } else {
            try JSONDecoder().decode(JSONTree.self, from: bytes).encode(to: encoder)
        }
    }
}
