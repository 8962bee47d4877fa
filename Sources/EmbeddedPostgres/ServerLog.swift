internal import Foundation

#if canImport(Darwin)
    internal import Darwin
#else
    internal import Glibc
#endif

/// The server's log: one file for each start, the last two kept.
struct ServerLog: Sendable {
    let layout: ClusterLayout

    /// A new file; the one before it is kept beside it.
    func begin() throws -> Descriptor {
        rename(layout.log, layout.previousLog)
        return try Descriptor.open(layout.log, O_WRONLY | O_CREAT | O_APPEND)
    }

    func lastLine() -> String {
        CapturedRun.complaint(in: (try? String(contentsOfFile: layout.log, encoding: .utf8)) ?? "")
    }
}
