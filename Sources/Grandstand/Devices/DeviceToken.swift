/// A device's or an activity's push token. It is stored as bytes and never logged. People see only its last six digits.
package struct DeviceToken: Sendable, Hashable, CustomStringConvertible {
    package let bytes: [UInt8]

    /// `nil` for no bytes, and for more than 512. Apple documents no length and asks not to rely on one
    /// (docs/internals/apns.md 3.1).
    package init?(bytes: [UInt8]) {
        guard (1...512).contains(bytes.count) else { return nil }
        self.bytes = bytes
    }

    /// The spelling in paths: lowercase hexadecimal digits.
    package var hex: String {
        String(unsafeUninitializedCapacity: 2 * bytes.count) { buffer in
            for index in 0..<2 * bytes.count {
                let byte = bytes[index / 2]
                buffer[index] = Self.digits[Int(index.isMultiple(of: 2) ? byte >> 4 : byte & 0xF)]
            }
            return 2 * bytes.count
        }
    }

    private static let digits = Array("0123456789abcdef".utf8)

    package var description: String { "…\(hex.suffix(6))" }
}
