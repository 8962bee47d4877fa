/// Why a private cluster could not be started.
package struct PostgresClusterError: Error, CustomStringConvertible {
    /// One line with advice.
    package let description: String
    /// Whether another running process has the folder.
    package var isHeld = false

    static func unusable(_ path: String, _ why: String) -> PostgresClusterError {
        PostgresClusterError(description: "\(path) cannot hold the embedded database: \(why)")
    }

    /// - Parameter holder: the ID of the other process; empty: it has not written it yet.
    static func held(_ path: String, by holder: some StringProtocol) -> PostgresClusterError {
        let process = holder.isEmpty ? "another process" : "process \(holder)"
        let advice = "stop it first, or choose another GRANDSTAND_DATA_DIR"
        return PostgresClusterError(description: "\(path) is in use by \(process): \(advice)", isHeld: true)
    }

    static func cannotLeaveRoot(_ why: String) -> PostgresClusterError {
        PostgresClusterError(
            description: "PostgreSQL does not run as root and \(why): run as an ordinary user, or set DATABASE_URL")
    }
}
