internal import JSON

#if canImport(FoundationEssentials)
    package import FoundationEssentials
#else
    package import Foundation
#endif

/// Encodes and decodes the API's JSON for `Codable` types that are not types of the contract.
package enum CodableJSON {
    /// Encodes a request body, with times as RFC 3339 and each `RawJSON` byte for byte. Equal values give equal bytes,
    /// because the server compares the bytes of requests with the same `Idempotency-Key`.
    package static func body(_ value: some Encodable) throws -> Data {
        let encoder = stableEncoder()
        encoder.dateEncodingStrategy = .custom { date, encoder in
            var container = encoder.singleValueContainer()
            try container.encode(RFC3339.text(date))
        }
        return try encode(value, with: encoder)
    }

    /// An encoder that sorts members by name; otherwise their order could differ each time.
    static func stableEncoder() -> JSONEncoder {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        return encoder
    }

    /// Encodes a value with this encoder, but each `RawJSON` in it byte for byte.
    static func encode(_ value: some Encodable, with encoder: JSONEncoder) throws -> Data {
        let pieces = JSONPieces()
        encoder.userInfo[JSONPieces.key] = pieces
        defer { encoder.userInfo[JSONPieces.key] = nil }
        return pieces.fill(try encoder.encode(value))
    }

    /// Decodes a value from an answer of the API.
    package static func value<Value: Decodable>(_ type: Value.Type, in bytes: Data) throws -> Value {
        let decoder = JSONDecoder()
        decoder.userInfo[JSONSource.key] = JSONSource(bytes)
        decoder.dateDecodingStrategy = .custom { decoder in
            let text = try decoder.singleValueContainer().decode(String.self)
            guard let date = RFC3339.date(text) else {
                throw DecodingError.dataCorrupted(
                    .init(codingPath: decoder.codingPath, debugDescription: "an RFC 3339 time was expected"))
            }
            return date
        }
        return try decoder.decode(type, from: bytes)
    }
}
