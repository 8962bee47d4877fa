/// A range of addresses such as `10.0.0.0/8`.
package struct IPNetwork: Sendable, Hashable {
    private let address: IPAddress
    private let bits: Int

    /// Reads `address/bits`, or a single address; `nil` for everything else.
    package init?(_ text: String) {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count <= 2, let address = IPAddress(String(parts[0])) else { return nil }
        let longest = address.bytes.count * 8
        let bits = parts.count == 2 ? Int(parts[1]) : longest
        guard let bits, (0...longest).contains(bits) else { return nil }
        self.address = address
        self.bits = bits
    }

    package func contains(_ other: IPAddress) -> Bool {
        guard other.bytes.count == address.bytes.count else { return false }
        let whole = bits / 8
        guard other.bytes[..<whole] == address.bytes[..<whole] else { return false }
        let rest = bits % 8
        guard rest > 0 else { return true }
        let mask = UInt8(truncatingIfNeeded: 0xFF00 >> rest)
        return other.bytes[whole] & mask == address.bytes[whole] & mask
    }
}
