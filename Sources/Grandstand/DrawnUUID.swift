package import FoundationEssentials

extension UUID {
    /// A random UUID (RFC 9562, version 4). On Linux, `UUID()` opens the file of the system's random generator each
    /// time. With two UUIDs for each message, this was an eighth of the work to accept and send a message.
    package static func drawn() -> UUID {
        let words = SIMD2(UInt64.random(in: .min ... .max), UInt64.random(in: .min ... .max))
        var bytes = unsafeBitCast(words, to: uuid_t.self)
        bytes.6 = bytes.6 & 0x0F | 0x40
        bytes.8 = bytes.8 & 0x3F | 0x80
        return UUID(uuid: bytes)
    }
}
