internal import JSON

#if canImport(FoundationEssentials)
    package import FoundationEssentials
#else
    package import Foundation
#endif

/// The API's JSON of values that are `Codable` and no types of the contract.
package enum CodableJSON {
    /// A body of the API's: RFC 3339 times, and each `RawJSON` in it byte for byte. The same value is the same bytes, which
    /// an `Idempotency-Key` is compared by.
    package static func body(_ value: some Encodable) throws -> Data {
        let encoder = stableEncoder()
        encoder.dateEncodingStrategy = .custom { date, encoder in
            var container = encoder.singleValueContainer()
            try container.encode(RFC3339.text(date))
        }
        return try encode(value, with: encoder)
    }

    /// Members stand in the order of their names; otherwise each encoding would have another order.
    static func stableEncoder() -> JSONEncoder {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        return encoder
    }

    /// A value as this encoder writes it, and each `RawJSON` in it byte for byte.
    static func encode(_ value: some Encodable, with encoder: JSONEncoder) throws -> Data {
        let pieces = JSONPieces()
        encoder.userInfo[JSONPieces.key] = pieces
        defer { encoder.userInfo[JSONPieces.key] = nil }
        return pieces.fill(try encoder.encode(value))
    }

    /// A value out of an answer of the API's.
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
