internal import Foundation

#if canImport(Darwin)
    internal import Darwin
#else
    internal import Glibc
#endif

/// A lock that allows one process per directory. The system releases it when the process ends in any way.
final class DirectoryLock: Sendable {
    private let file: Descriptor

    /// Takes the lock at `path` without waiting, and writes our process ID there for other processes.
    ///
    /// - Throws: `PostgresClusterError` if another process has the lock, or the file system does not support locks.
    init(path: String, directory: String) throws {
        do {
            file = try Descriptor.open(path, O_RDWR | O_CREAT)
        } catch let error as SystemError {
            throw PostgresClusterError(.directoryUnusable(path: directory, why: error.description))
        }
        while flock(file.number, LOCK_EX | LOCK_NB) != 0 {
            let code = errno
            switch code {
            case EINTR: continue
            case EWOULDBLOCK:
                let holder = Int(file.contents().trimmingCharacters(in: .whitespacesAndNewlines))
                throw PostgresClusterError(.heldByProcess(path: directory, pid: holder))
            default:
                let why = SystemError(code: code, call: "lock \(path)").description
                throw PostgresClusterError(.directoryUnusable(path: directory, why: why))
            }
        }
        ftruncate(file.number, 0)
        try? file.write("\(getpid())\n")
    }

    deinit {
        release()
    }

    /// Releases the lock at once. Closing the file is not enough, because a child that is just being started also has
    /// it open.
    func release() {
        flock(file.number, LOCK_UN)
    }
}
