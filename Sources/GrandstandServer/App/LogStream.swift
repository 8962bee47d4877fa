internal import JSON

#if canImport(Darwin)
    private import Darwin
#elseif canImport(Glibc)
    private import Glibc
#elseif canImport(Musl)
    private import Musl
#endif

/// Standard error for lines of text. Control characters are escaped, so that no value forges a line.
struct LogStream: TextOutputStream, Sendable {
    func write(_ line: String) { Self.write(Self.bytes(of: line)) }

    /// - Parameter line: a line with the line break at its end.
    static func bytes(of line: String) -> [UInt8] { Array((String(line.dropLast()).escapingControls + "\n").utf8) }

    /// Writes whole lines. Lines that cannot be written are dropped, because logging must not stop the work.
    static func write(_ bytes: [UInt8]) {
        bytes.withUnsafeBytes { buffer in
            var rest = buffer[...]
            while !rest.isEmpty {
                let part = UnsafeRawBufferPointer(rebasing: rest)
                #if canImport(Darwin)
                    let count = Darwin.write(2, part.baseAddress, part.count)
                #elseif canImport(Glibc)
                    let count = Glibc.write(2, part.baseAddress, part.count)
                #else
                    let count = Musl.write(2, part.baseAddress, part.count)
                #endif
                guard count > 0 else { return }
                rest = rest.dropFirst(count)
            }
        }
    }
}
