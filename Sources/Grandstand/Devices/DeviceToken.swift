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
        var bytes: [UInt8] = []
        bytes.reserveCapacity(hex.utf8.count / 2)
        var high: UInt8?
        for digit in hex.utf8 {
            guard let value = Self.value(of: digit) else { return nil }
            if let first = high {
                bytes.append(first << 4 | value)
                high = nil
            } else {
                high = value
            }
        }
        self.init(bytes: bytes)
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

    private static func value(of digit: UInt8) -> UInt8? {
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
