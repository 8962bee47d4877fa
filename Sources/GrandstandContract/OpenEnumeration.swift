/// A text enumeration that may get more values. Any text is accepted, so that a value from a newer server is kept
/// unchanged, as `unknown`.
public protocol OpenEnumeration: RawRepresentable, Sendable, Hashable, Codable, CustomStringConvertible
where RawValue == String {
    /// Accepts any text.
    init(rawValue: String)
}

extension OpenEnumeration {
    /// The raw value.
    public var description: String { rawValue }

    /// Decodes the raw value from a JSON string.
    public init(from decoder: any Decoder) throws {
        self.init(rawValue: try decoder.singleValueContainer().decode(String.self))
    }

    /// Encodes the raw value as a JSON string.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(rawValue)
    }
}

/// An enumeration of the contract.
package protocol ContractWord: OpenEnumeration, CaseIterable {}
