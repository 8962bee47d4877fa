internal import EmbeddedPostgres
internal import Foundation
internal import Logging
internal import Synchronization

/// A temporary PostgreSQL cluster of this process. It is in memory if there is enough memory, otherwise in the
/// temporary folder.
///
/// Tests create and drop hundreds of databases with 300 files each. On ext4, this takes 300 s of processor time in the
/// kernel, in memory 100 to 120 s. The whole run takes 5 minutes on ext4 and 3 in memory.
///
/// The server ends with the process. The folder is removed at a normal exit. If a process was killed, the next process
/// removes the folder of the killed one.
enum ThrowAwayCluster {
    private static let prefix = "grandstand-tests-"

    private struct Running {
        let cluster: PostgresCluster
        let directory: String
    }

    private static let running = Mutex<Running?>(nil)

    /// Starts the cluster. Call it once in a process.
    ///
    /// - Returns: a connection string with a role that may create databases.
    static func start(logger: Logger) async throws -> String {
        let place = place()
        removeAbandoned(in: place)
        let directory = place.appendingPathComponent(prefix + String(ProcessInfo.processInfo.processIdentifier)).path
        // An earlier process with the same number may have left this folder.
        try? FileManager.default.removeItem(atPath: directory)
        let cluster = PostgresCluster(directory: directory, logger: logger, durable: false)
        running.withLock { $0 = Running(cluster: cluster, directory: directory) }
        atexit { ThrowAwayCluster.stop() }
        return try await cluster.start()
    }

    /// Linux' `/dev/shm` if it has several times the space of the largest test; otherwise the temporary folder.
    private static func place() -> URL {
        let memory = URL(filePath: "/dev/shm", directoryHint: .isDirectory)
        let free = try? FileManager.default.attributesOfFileSystem(forPath: memory.path)[.systemFreeSize] as? Int
        if let free, free >= 4 << 30, FileManager.default.isWritableFile(atPath: memory.path) { return memory }
        return URL(fileURLWithPath: NSTemporaryDirectory()).resolvingSymlinksInPath()
    }

    /// Stops the cluster. Waits for this only for a limited time, so that the exit does not hang.
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
