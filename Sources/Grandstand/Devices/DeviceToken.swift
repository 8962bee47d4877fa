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
            for (index, byte) in bytes.enumerated() {
                buffer[2 * index] = Self.digit(byte >> 4)
                buffer[2 * index + 1] = Self.digit(byte & 0xF)
            }
            return 2 * bytes.count
        }
    }

    package var description: String { "…\(hex.suffix(6))" }

    private static func digit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10
    }
}
