internal import NIOCore

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#elseif canImport(Darwin)
    internal import Darwin
#endif

extension Error {
    /// A short text for an error of a socket or of TLS, such as "Connection refused".
    var summary: String {
        guard let error = self as? IOError else { return String(describing: self) }
        var buffer = [CChar](repeating: 0, count: 256)
        let status = strerror_r(error.errnoCode, &buffer, buffer.count)
        let bytes = buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
        return status == 0 ? String(decoding: bytes, as: UTF8.self) : "error \(error.errnoCode)"
    }

    /// Whether another program listens on the port.
    var isAddressInUse: Bool { (self as? IOError)?.errnoCode == EADDRINUSE }
}
