package import JSON

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// A piece of JSON that keeps its bytes: what goes in comes out, numbers, escapes and white space included.
///
/// A content state is one: `RawJSON(Score(home: 1, away: 0))`, or `RawJSON(json: #"{"home": 1}"#)`.
public struct RawJSON: Sendable, Hashable, CustomStringConvertible {
    /// The text, in UTF-8.
    public let bytes: Data

    /// A value's JSON.
    ///
    /// - Parameter encoder: how dates and so on are written; the app's decoder has to agree with it. Without one, members
    ///   stand in the order of their names, so that the same value is the same bytes.
    /// - Throws: what the value's encoding throws.
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

    /// As a tree.
    ///
    /// - Throws: `DecodingError`.
    package var value: JSONValue { get throws { try JSONValue(decoding: bytes) } }

    /// The value it is.
    ///
    /// - Parameter decoder: as the encoder of whoever wrote it.
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
    /// Its bytes where one of the client's own answers is read; elsewhere the value, written anew.
    public init(from decoder: any Decoder) throws {
        if let source = decoder.userInfo[JSONSource.key] as? JSONSource {
            bytes = try source.bytes(at: decoder.codingPath)
        } else {
            bytes = try JSONEncoder().encode(try JSONTree(from: decoder))
        }
    }

    /// Its bytes where one of the client's own bodies is written; elsewhere the value.
    public func encode(to encoder: any Encoder) throws {
        if let pieces = encoder.userInfo[JSONPieces.key] as? JSONPieces {
            var container = encoder.singleValueContainer()
            try container.encode(pieces.mark(for: bytes))
        } else {
            try JSONDecoder().decode(JSONTree.self, from: bytes).encode(to: encoder)
        }
    }
}
