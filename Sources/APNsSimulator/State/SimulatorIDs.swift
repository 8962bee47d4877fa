internal import FoundationEssentials

/// Makes channel IDs in the form observed live (docs/internals/apns.md 1.3): 16 bytes in standard base64 with padding.
/// Their layout is like that of a version 1 UUID: 60 bits of time in 100 ns since 1582, two zero bytes, six random
/// bytes.
struct ChannelIDMaker: Sendable {
    /// The most characters of an ID that are decoded. Apple's own limit is not published.
    static let maximumLength = 256

    private var lastTick: UInt64 = 0

    /// The time from 1582-10-15 to 1970-01-01 in units of 100 ns (RFC 9562 5.1).
    private static let gregorianOffset: UInt64 = 0x01B2_1DD2_1381_4000

    /// Makes a new ID. No two IDs of one instance are equal, even at the same time, because the tick always grows.
    mutating func make(now: Double, using random: inout SeededRandom) -> String {
        let sinceEpoch = UInt64(max(0, now) * 10_000_000)
        let tick = max(sinceEpoch + Self.gregorianOffset, lastTick + 1)
        lastTick = tick
        var bytes: [UInt8] = []
        bytes.reserveCapacity(16)
        append(UInt32(truncatingIfNeeded: tick), to: &bytes)
        append(UInt16(truncatingIfNeeded: tick >> 32), to: &bytes)
        append(UInt16(truncatingIfNeeded: tick >> 48) & 0x0FFF | 0x1000, to: &bytes)
        append(UInt16(0), to: &bytes)
        let tail = random.next()
        append(UInt32(truncatingIfNeeded: tail), to: &bytes)
        append(UInt16(truncatingIfNeeded: tail >> 32), to: &bytes)
        return Data(bytes).base64EncodedString()
    }

    /// Whether `text` can be an ID: standard base64 with padding, and not too long. base64url is not accepted.
    static func isWellFormed(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.count <= maximumLength && Data(base64Encoded: text) != nil
    }

    private func append(_ value: some FixedWidthInteger, to bytes: inout [UInt8]) {
        withUnsafeBytes(of: value.bigEndian) { bytes += $0 }
    }
}

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

/// SplitMix64 (Steele, Lea, Flood 2014). The same seed gives the same numbers. Only for IDs that need not be secret.
struct SeededRandom: RandomNumberGenerator, Sendable {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
