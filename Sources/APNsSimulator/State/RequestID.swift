internal import FoundationEssentials

/// The text of `apns-request-id` and `apns-unique-id`: a canonical lowercase UUID, 8-4-4-4-12 (docs/internals/apns.md
/// 1.2).
enum RequestID {
    /// Whether APNs accepts `text` as a request ID.
    ///
    /// Uppercase digits are refused. Apple documents this rule, but nobody has tested it. An ID that passes this check
    /// is valid whether APNs applies the rule or not.
    static func isCanonical(_ text: String) -> Bool { UUID(uuidString: text)?.uuidString.lowercased() == text }

    /// A new request ID: a UUID of version 4 (RFC 9562).
    static func make(using random: inout SeededRandom) -> String {
        let high = random.next() & ~0xF000 | 0x4000
        let low = random.next() & ~(0b11 << 62) | 0b10 << 62
        return withUnsafeBytes(of: (high.bigEndian, low.bigEndian)) { bytes in
            UUID(uuid: bytes.loadUnaligned(as: uuid_t.self)).uuidString.lowercased()
        }
    }
}
