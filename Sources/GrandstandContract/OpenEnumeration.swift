/// A word out of a set that may grow. Any word is taken, so that a newer server's is kept as it is; `default` in a switch is
/// for those.
public protocol OpenEnumeration: RawRepresentable, Sendable, Hashable, Codable, CustomStringConvertible
where RawValue == String {
    /// Any word.
    init(rawValue: String)
}

extension OpenEnumeration {
    /// The word.
    public var description: String { rawValue }

    /// Reads it as the API writes it.
    public init(from decoder: any Decoder) throws {
        self.init(rawValue: try decoder.singleValueContainer().decode(String.self))
    }

    /// Writes it as the API reads it.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(rawValue)
    }
}
