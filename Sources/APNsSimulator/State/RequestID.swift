/// The text of `apns-request-id` and `apns-unique-id`: a canonical lowercase UUID, 8-4-4-4-12 (docs/internals/apns.md
/// 1.2).
enum RequestID {
    /// Whether APNs accepts `text` as a request ID.
    ///
    /// Uppercase digits are refused. Apple documents this rule, but nobody has tested it. An ID that passes this check
    /// is valid whether APNs applies the rule or not.
    static func isCanonical(_ text: String) -> Bool {
        let bytes = text.utf8
        guard bytes.count == 36 else { return false }
        for (offset, byte) in bytes.enumerated() {
            switch offset {
            case 8, 13, 18, 23:
                guard byte == UInt8(ascii: "-") else { return false }
            default:
                switch byte {
                case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"): break
                default: return false
                }
            }
        }
        return true
    }

    /// A new request ID: a UUID of version 4 (RFC 9562).
    static func make(using random: inout SeededRandom) -> String {
        var high = random.next()
        var low = random.next()
        high = high & ~0xF000 | 0x4000
        low = low & ~(0b11 << 62) | 0b10 << 62
        return String(unsafeUninitializedCapacity: 36) { text in
            var position = 0
            for nibble in 0..<32 {
                if nibble == 8 || nibble == 12 || nibble == 16 || nibble == 20 {
                    text[position] = UInt8(ascii: "-")
                    position += 1
                }
                let word = nibble < 16 ? high : low
                let digit = UInt8(truncatingIfNeeded: word >> UInt64(60 - nibble % 16 * 4) & 0xF)
                text[position] = digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10
                position += 1
            }
            return position
        }
    }
}
