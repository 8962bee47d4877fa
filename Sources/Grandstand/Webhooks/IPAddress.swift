#if canImport(Darwin)
    internal import Darwin
#elseif canImport(Musl)
    internal import Musl
#else
    internal import Glibc
#endif

/// An IPv4 or IPv6 address.
package struct IPAddress: Sendable, Hashable {
    /// 4 or 16 bytes, in network byte order.
    package let bytes: [UInt8]

    /// `nil` unless there are 4 or 16 bytes.
    package init?(bytes: [UInt8]) {
        guard bytes.count == 4 || bytes.count == 16 else { return nil }
        self.bytes = bytes
    }

    /// Reads four decimal numbers without leading zeros, or RFC 4291's text form without a zone. `nil` for everything
    /// else, also for forms that C libraries accept as addresses (`0x7f.1`).
    package init?(_ text: String) {
        var bytes = [UInt8](repeating: 0, count: text.contains(":") ? 16 : 4)
        // `inet_pton` would read only up to a NUL.
        guard !text.utf8.contains(0), inet_pton(bytes.count == 16 ? AF_INET6 : AF_INET, text, &bytes) == 1 else {
            return nil
        }
        self.bytes = bytes
    }

    /// The IPv4 address inside an IPv4-mapped IPv6 address (`::ffff:0:0/96`); every other address unchanged.
    package var unmapped: IPAddress {
        guard bytes.count == 16, bytes[..<12] == [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF],
            let inner = IPAddress(bytes: Array(bytes[12...]))
        else { return self }
        return inner
    }

    /// The IPv4 address, or the first four groups of an IPv6 address. Whoever has one IPv6 address has all that begin
    /// with the same four groups, so limits for each caller count by this value.
    package var callersNetwork: String {
        if bytes.count == 4 { return bytes.map(String.init).joined(separator: ".") }
        return stride(from: 0, to: 8, by: 2)
            .map { String(UInt16(bytes[$0]) << 8 | UInt16(bytes[$0 + 1]), radix: 16) }.joined(separator: ":")
    }
}
