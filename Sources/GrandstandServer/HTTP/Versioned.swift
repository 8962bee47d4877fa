/// A value with the version in its `ETag`.
package struct Versioned<Value: Sendable>: Sendable {
    package var value: Value
    package let version: Int
}

extension Versioned: Decodable where Value: Decodable {
    private enum CodingKeys: CodingKey { case version }

    /// Reads a row whose further column `version` is that of the value.
    package init(from decoder: any Decoder) throws {
        value = try Value(from: decoder)
        version = try decoder.container(keyedBy: CodingKeys.self).decode(Int.self, forKey: .version)
    }
}
