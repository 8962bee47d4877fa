internal import FoundationEssentials

/// Makes channel IDs in the form observed live (docs/internals/apns.md 1.3): 16 bytes in standard base64 with padding,
/// laid out like a version 1 UUID: 60 bits of time in 100 ns since 1582, two zero bytes, six bytes of tail.
struct ChannelIDs: Sendable {
    /// Characters of an ID beyond which APNs need not decode it. Apple's own bound is not published.
    static let maximumLength = 256

    private var lastTick: UInt64 = 0

    /// Between 1582-10-15 and 1970-01-01, in 100 ns (RFC 9562 5.1).
    private static let gregorianOffset: UInt64 = 0x01B2_1DD2_1381_4000

    /// A new ID; no two of one value are alike, even in the same instant: the tick always rises.
    mutating func make(now: Date, using random: inout SeededRandom) -> String {
        let sinceEpoch = UInt64(max(0, now.timeIntervalSince1970) * 10_000_000)
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

    /// Whether `text` could be an ID at all: standard alphabet, padded, not too long. base64url is not.
    static func isWellFormed(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.count <= maximumLength && Data(base64Encoded: text) != nil
    }

    private func append(_ value: some FixedWidthInteger, to bytes: inout [UInt8]) {
        withUnsafeBytes(of: value.bigEndian) { bytes += $0 }
    }
}
