internal import FoundationEssentials

extension UUID {
    /// A random UUID (RFC 9562, version 4). On Linux, `UUID()` opens the file of the system's random generator each
    /// time. With two UUIDs for each message, this was an eighth of the work to accept and send a message.
    static func drawn() -> UUID {
        var bytes: uuid_t = (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
        withUnsafeMutableBytes(of: &bytes) { bytes in
            bytes.storeBytes(of: UInt64.random(in: .min ... .max), toByteOffset: 0, as: UInt64.self)
            bytes.storeBytes(of: UInt64.random(in: .min ... .max), toByteOffset: 8, as: UInt64.self)
            bytes[6] = bytes[6] & 0x0F | 0x40
            bytes[8] = bytes[8] & 0x3F | 0x80
        }
        return UUID(uuid: bytes)
    }
}
