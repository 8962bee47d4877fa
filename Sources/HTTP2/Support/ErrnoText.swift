#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#elseif canImport(Darwin)
    internal import Darwin
#endif

extension String {
    /// The system's message for an error number: "Connection refused".
    init(errno: Int32) {
        var buffer = [CChar](repeating: 0, count: 256)
        let status = strerror_r(errno, &buffer, buffer.count)
        let bytes = buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
        self = status == 0 ? String(decoding: bytes, as: UTF8.self) : "error \(errno)"
    }
}

/// Error numbers that have their own error message in this module, instead of the system's.
enum SystemError {
    static let addressInUse = EADDRINUSE
}
