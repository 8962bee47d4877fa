/// Why a private cluster could not be started. `description` is one line with advice.
package struct PostgresClusterError: Error, Equatable, CustomStringConvertible {
    /// The cause.
    package let reason: Reason

    init(_ reason: Reason) {
        self.reason = reason
    }

    /// The causes that a caller may need to distinguish.
    package enum Reason: Sendable, Equatable {
        /// No searched folder has both `initdb` and `postgres`.
        case binariesMissing
        /// There are no programs of the major version that created the data; `installed` are the versions found.
        case otherVersion(data: String, needed: String, installed: [String])
        /// `initdb` ended with an error. `lastLine` is its last error message, or else the last line that it printed.
        case initdbFailed(lastLine: String)
        /// `postgres` ended or was not ready in time. `lastLine` is the last error in its log, or else the last line of
        /// the log.
        case serverFailed(lastLine: String, log: String)
        /// A folder cannot be created, read or entered.
        case directoryUnusable(path: String, why: String)
        /// Another running process has the directory. nil: it has not written its process ID yet.
        case heldByProcess(path: String, pid: Int?)
        /// A server that an earlier process left behind does not stop.
        case orphanRunning(pid: Int)
        /// The process is root, and PostgreSQL, which refuses root, cannot be run under another account.
        case cannotLeaveRoot(why: String)
    }

    package var description: String {
        switch reason {
        case .binariesMissing:
            return "the embedded database needs PostgreSQL's programs (initdb, postgres): install them with "
                + "`apt-get install postgresql` or `brew install postgresql`, or set DATABASE_URL"
        case .otherVersion(let data, let needed, let installed):
            let found = installed.isEmpty ? "none" : installed.joined(separator: ", ")
            return "\(data) was made by PostgreSQL \(needed), whose programs are not installed (found: \(found)): "
                + "install them (`apt-get install postgresql-\(needed)` or `brew install postgresql@\(needed)`), "
                + "or choose another GRANDSTAND_DATA_DIR"
        case .initdbFailed(let lastLine):
            return "the embedded database could not be created, initdb said: \(lastLine)"
        case .serverFailed(let lastLine, let log):
            return "the embedded database did not start, its log \(log) ends: \(lastLine)"
        case .directoryUnusable(let path, let why):
            return "\(path) cannot hold the embedded database: \(why)"
        case .heldByProcess(let path, let pid):
            let holder = pid.map { "process \($0)" } ?? "another process"
            return "\(path) is in use by \(holder): stop it first, or choose another GRANDSTAND_DATA_DIR"
        case .orphanRunning(let pid):
            return "an earlier embedded database (process \(pid)) does not stop: end it with `kill -QUIT \(pid)`"
        case .cannotLeaveRoot(let why):
            return "PostgreSQL does not run as root and \(why): run as an ordinary user, or set DATABASE_URL"
        }
    }
}
