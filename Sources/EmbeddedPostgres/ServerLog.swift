internal import Foundation

#if canImport(Darwin)
    internal import Darwin
#else
    internal import Glibc
#endif

/// The server's log: one file for each start. The last two are kept.
struct ServerLog: Sendable {
    let layout: ClusterLayout

    /// Begins a new file, and keeps the previous one.
    func begin() throws -> Descriptor {
        rename(layout.log, layout.previousLog)
        return try Descriptor.open(layout.log, O_WRONLY | O_CREAT | O_APPEND)
    }

    func lastLine() -> String {
        CapturedRun.complaint(in: (try? String(contentsOfFile: layout.log, encoding: .utf8)) ?? "")
    }
}
