internal import GrandstandContract

/// A device's or an activity's push token. It is stored as bytes and never logged. People see only its last six digits.
package struct DeviceToken: Sendable, Hashable, CustomStringConvertible {
    package let bytes: [UInt8]

    /// The most bytes of a token. Apple documents no length and asks not to rely on one (docs/internals/apns.md 3.1).
    package static let maximumLength = 512

    /// `nil` for no bytes, and for more than `maximumLength`.
    package init?(bytes: [UInt8]) {
        guard (1...Self.maximumLength).contains(bytes.count) else { return nil }
        self.bytes = bytes
    }

    /// Reads hexadecimal digits of either case; `nil` for anything else.
    package init?(hex: String) {
        guard hex.utf8.count.isMultiple(of: 2), hex.utf8.count <= 2 * Self.maximumLength else { return nil }
        let digits = hex.utf8.compactMap(\.hexValue)
        guard digits.count == hex.utf8.count else { return nil }
        self.init(bytes: stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] })
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

    /// The rule for tokens as a sentence, for error messages.
    package static let rule = TextRule.deviceToken.sentence

    private static func digit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10
    }
}
