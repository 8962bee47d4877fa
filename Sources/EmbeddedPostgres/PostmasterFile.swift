internal import Foundation

#if canImport(Darwin)
    internal import Darwin
#else
    internal import Glibc
#endif

/// `postmaster.pid`, the file of a running server in its data. It has a line each for process ID, data, start time,
/// port, socket folder, address, shared memory and state.
struct PostmasterFile: Sendable, Equatable {
    let pid: Int32
    /// Process ID and start time, which identify the server.
    let server: String
    /// Whether the server accepts connections.
    let isReady: Bool

    init?(text: String) {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        guard lines.count >= 3, let pid = Int32(lines[0]), pid > 0 else { return nil }
        self.pid = pid
        server = "\(pid) \(lines[2])"
        isReady = lines.count > 7 && lines[7].trimmingCharacters(in: .whitespaces) == "ready"
    }

    /// Returns nil if there is no file, or the file is not complete yet.
    init?(path: String) {
        guard let text = try? String(contentsOfFile: path, encoding: .utf8) else { return nil }
        self.init(text: text)
    }

    /// Replaces the process ID in the file by one that no process has. The other lines stay. One of the other lines has
    /// the number of the shared memory, by which PostgreSQL finds sessions that outlived their server.
    static func clearProcessNumber(path: String) throws {
        let text = try String(contentsOfFile: path, encoding: .utf8)
        let rest = text.drop { $0 != "\n" }
        let file = try Descriptor.open(path, O_RDWR | O_TRUNC)
        try file.write("\(Int32.max)\(rest)")
    }
}
