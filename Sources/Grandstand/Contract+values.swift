package import FoundationEssentials
package import GrandstandContract

// Conversions to the contract's types, for values that many resources share.

extension OpenEnumeration {
    /// The contract's case with the same raw value.
    package init(_ value: some RawRepresentable<String>) { self.init(rawValue: value.rawValue) }
}

extension UUID {
    /// The ID in lower case, as the API writes it.
    package var text: String { uuidString.lowercased() }
}

extension Double {
    /// Rounded to one decimal.
    package var oneDecimal: Double { (self * 10).rounded() / 10 }
}
