internal import Foundation

#if canImport(Darwin)
    internal import Darwin
#else
    internal import Glibc
#endif

/// A server on our data that a dead process has left behind. Only the holder of the directory's lock may use this.
struct EarlierServer: Sendable {
    private static let timeout = Duration.seconds(30)
    private static let pollInterval = Duration.milliseconds(10)

    let layout: ClusterLayout

    /// Stops it, or waits while it is stopping already. A process number that is somebody else's by now is cleared from
    /// the data, or PostgreSQL would refuse to start for fear of two servers.
    ///
    /// - Throws: `PostgresClusterError` when it has not ended in thirty seconds.
    func stop() async throws {
        guard let file = PostmasterFile(path: layout.postmasterFile) else { return }
        let deadline = ContinuousClock.now + Self.timeout
        var told = false
        while true {
            switch await OtherProcess.under(file.pid, data: layout.data) {
            case .gone, .anotherPostgres: return
            case .stranger:
                // Ending, it removes the file itself.
                guard PostmasterFile(path: layout.postmasterFile)?.pid == file.pid else { return }
                return try PostmasterFile.clearProcessNumber(path: layout.postmasterFile)
            case .server: break
            }
            if !told { kill(file.pid, SIGINT) }
            told = true
            guard ContinuousClock.now < deadline else {
                throw PostgresClusterError(.orphanRunning(pid: Int(file.pid)))
            }
            try await Task.sleep(for: Self.pollInterval)
        }
    }
}
