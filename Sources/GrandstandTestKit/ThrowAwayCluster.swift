internal import EmbeddedPostgres
internal import Foundation
internal import Logging
internal import Synchronization

/// A PostgreSQL cluster for the time of this process, in memory where there is room for it, else in the temp folder.
///
/// Hundreds of databases are made and dropped, each of 300 files: ext4 spends more on finding inodes for those than the
/// tests take otherwise (measured: 300 s of processor time in the kernel instead of 100 to 120, 5 minutes instead of 3).
///
/// The server ends with the process however that ends. The folder is removed at an orderly exit; what a killed process
/// leaves behind, the next one removes.
enum ThrowAwayCluster {
    private static let prefix = "grandstand-tests-"

    private struct Running {
        let cluster: PostgresCluster
        let directory: String
    }

    private static let running = Mutex<Running?>(nil)

    /// Starts the cluster; called once in a process.
    ///
    /// - Returns: a connection string whose role may create databases.
    static func start(logger: Logger) async throws -> String {
        let place = place()
        removeAbandoned(in: place)
        let directory = place.appendingPathComponent(prefix + String(ProcessInfo.processInfo.processIdentifier)).path
        // Left by a process of an earlier boot that had the same number.
        try? FileManager.default.removeItem(atPath: directory)
        let cluster = PostgresCluster(directory: directory, logger: logger, durable: false)
        running.withLock { $0 = Running(cluster: cluster, directory: directory) }
        atexit { ThrowAwayCluster.stop() }
        return try await cluster.start()
    }

    /// Linux' `/dev/shm` when it has room for the largest test's rows many times over.
    private static func place() -> URL {
        let memory = URL(filePath: "/dev/shm", directoryHint: .isDirectory)
        let free = try? FileManager.default.attributesOfFileSystem(forPath: memory.path)[.systemFreeSize] as? Int
        if let free, free >= 4 << 30, FileManager.default.isWritableFile(atPath: memory.path) { return memory }
        return URL(fileURLWithPath: NSTemporaryDirectory()).resolvingSymlinksInPath()
    }

    /// Waits a bounded time, for an exit must not hang.
    private static func stop() {
        guard let running = running.withLock({ $0.take() }) else { return }
        let stopped = DispatchSemaphore(value: 0)
        Task.detached {
            await running.cluster.stop()
            stopped.signal()
        }
        _ = stopped.wait(timeout: .now() + 10)
        try? FileManager.default.removeItem(atPath: running.directory)
    }

    private static func removeAbandoned(in place: URL) {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: place.path)) ?? []
        for name in names where name.hasPrefix(prefix) {
            guard let process = pid_t(name.dropFirst(prefix.count)), kill(process, 0) != 0, errno == ESRCH else {
                continue
            }
            try? FileManager.default.removeItem(atPath: place.appendingPathComponent(name).path)
        }
    }
}
