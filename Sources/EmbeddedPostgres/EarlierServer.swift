internal import Foundation

#if canImport(Darwin)
    internal import Darwin
#else
    internal import Glibc
#endif

/// A server on our data that an ended process left behind. Only the holder of the directory's lock may use this type.
struct EarlierServer: Sendable {
    private static let timeout = Duration.seconds(30)
    private static let pollInterval = Duration.milliseconds(10)

    let layout: ClusterLayout

    /// Stops the server, or waits if it is already stopping. If another program now has the server's process ID, the ID
    /// is removed from the data, because PostgreSQL would otherwise refuse to start.
    ///
    /// - Throws: `PostgresClusterError` if the server has not ended after thirty seconds.
    func stop() async throws {
        guard let file = PostmasterFile(path: layout.postmasterFile) else { return }
        let deadline = ContinuousClock.now + Self.timeout
        var told = false
        while true {
            switch await OtherProcess.under(file.pid, data: layout.data) {
            case .gone, .anotherPostgres: return
            case .stranger:
                // A server that ends removes the file itself.
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
