internal import Foundation

#if canImport(Darwin)
    internal import Darwin
#else
    internal import Glibc
#endif

extension Descriptor {
    /// A file without a name. It is deleted when its last descriptor is closed.
    static func temporaryFile() throws -> Descriptor {
        let path = NSTemporaryDirectory() + "/grandstand-" + UUID().uuidString
        let file = try open(path, O_RDWR | O_CREAT | O_EXCL)
        unlink(path)
        return file
    }

    /// Writes `text` at the beginning, and sets the position to the beginning for a reader.
    func write(_ text: String) throws {
        let bytes = Array(text.utf8)
        var written = 0
        while written < bytes.count {
            let count = pwrite(number, Array(bytes[written...]), bytes.count - written, off_t(written))
            guard count > 0 else { throw SystemError(code: errno, call: "write a file") }
            written += count
        }
    }

    /// The first 64 KiB of the file as text.
    func contents() -> String {
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        var filled = 0
        while filled < buffer.count {
            let room = buffer.count - filled
            let count = buffer.withUnsafeMutableBytes { bytes in
                pread(number, bytes.baseAddress.map { $0 + filled }, room, off_t(filled))
            }
            guard count > 0 else { break }
            filled += count
        }
        return String(decoding: buffer[..<filled], as: UTF8.self)
    }
}
