internal import Foundation
internal import Testing

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// A raw TCP connection.
final class Peer {
    let descriptor: Int32

    init(_ url: String) throws {
        let port = try #require(URL(string: url)?.port)
        #if canImport(Glibc)
            descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        #else
            descriptor = socket(AF_INET, SOCK_STREAM, 0)
        #endif
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = UInt16(port).bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let result = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        try #require(result == 0)
    }

    func send(_ text: String) {
        let bytes = Array(text.utf8)
        _ = write(descriptor, bytes, bytes.count)
    }

    /// The next answer with its whole body, or the part of it that came before the server closed.
    func answer() async -> String { await read(until: Self.isWhole) }

    /// Everything until the server closes.
    func untilClosed() async -> String { await read { _ in false } }

    private func read(until isEnough: @escaping @Sendable ([UInt8]) -> Bool) async -> String {
        let descriptor = descriptor
        return await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                var bytes: [UInt8] = []
                var buffer = [UInt8](repeating: 0, count: 16_384)
                while !isEnough(bytes) {
                    let count = recv(descriptor, &buffer, buffer.count, 0)
                    guard count > 0 else { break }
                    bytes += buffer.prefix(count)
                }
                continuation.resume(returning: String(decoding: bytes, as: UTF8.self))
            }
        }
    }

    private static func isWhole(_ bytes: [UInt8]) -> Bool {
        let text = String(decoding: bytes, as: UTF8.self)
        guard let end = text.range(of: "\r\n\r\n") else { return false }
        let length = text[..<end.lowerBound].lowercased().firstMatch(of: /content-length: (\d+)/)?.output.1
        return text[end.upperBound...].utf8.count >= length.flatMap { Int($0) } ?? 0
    }

    /// What has arrived by now; `nil`: nothing.
    func takeNow() -> String? {
        var buffer = [UInt8](repeating: 0, count: 4_096)
        let count = recv(descriptor, &buffer, buffer.count, Int32(MSG_DONTWAIT))
        return count > 0 ? String(decoding: buffer.prefix(count), as: UTF8.self) : nil
    }

    /// Ends the connection at once, as if it were lost: nothing more is sent or read.
    func hangUp() { _ = shutdown(descriptor, Int32(SHUT_RDWR)) }

    deinit { close(descriptor) }
}
