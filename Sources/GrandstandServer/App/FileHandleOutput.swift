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
    func write(_ line: String) { FileHandleOutput.standardError.write(Self.bytes(of: line)) }

    /// - Parameter line: a line with the line break at its end.
    static func bytes(of line: String) -> [UInt8] { Array((String(line.dropLast()).escapingControls + "\n").utf8) }
}

/// Writes whole lines to a file descriptor. Lines that cannot be written are dropped, because logging must not stop the
/// work.
struct FileHandleOutput: Sendable {
    private let descriptor: Int32

    static let standardError = FileHandleOutput(descriptor: 2)

    func write(_ bytes: [UInt8]) {
        bytes.withUnsafeBytes { buffer in
            var rest = buffer[...]
            while !rest.isEmpty {
                let count = unsafeWrite(UnsafeRawBufferPointer(rebasing: rest))
                guard count > 0 else { return }
                rest = rest.dropFirst(count)
            }
        }
    }

    private func unsafeWrite(_ buffer: UnsafeRawBufferPointer) -> Int {
        #if canImport(Darwin)
            Darwin.write(descriptor, buffer.baseAddress, buffer.count)
        #elseif canImport(Glibc)
            Glibc.write(descriptor, buffer.baseAddress, buffer.count)
        #else
            Musl.write(descriptor, buffer.baseAddress, buffer.count)
        #endif
    }
}
