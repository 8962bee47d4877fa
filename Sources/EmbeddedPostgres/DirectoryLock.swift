internal import Foundation

#if canImport(Darwin)
    internal import Darwin
#else
    internal import Glibc
#endif

/// One process on one directory: a lock that the system drops with the process, however it ends.
final class DirectoryLock: Sendable {
    private let file: Descriptor

    /// Takes the lock at `path` at once, and writes our process number there for the process that comes second.
    ///
    /// - Throws: `PostgresClusterError` when another process has it or the file system cannot lock.
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

    /// Lets go at once. Closing the file does not suffice: a child between its birth and its program has it open, too.
    func release() {
        flock(file.number, LOCK_UN)
    }
}
