/// The settings of the server and its data. They are on the command line at every start, so that settings of a newer
/// Grandstand also apply to older data.
struct ServerSettings: Sendable {
    /// Whether a commit survives a power cut. `false` is for tests, whose data are temporary.
    let durable: Bool
    /// A port on 127.0.0.1 in addition to the socket, for tests that need TCP; `nil`: none.
    var tcpPort: Int?

    /// The arguments of `initdb`. `trust` asks for no password. Only the data's owner and root can reach the socket,
    /// because its folder is 0700, and both can read the files anyway. There is no TCP port, except in some tests.
    func initdbArguments(data: String) -> [String] {
        let arguments = [
            "-D", data, "-U", ClusterLayout.user, "--auth=trust", "--encoding=UTF8", "--locale=C",
        ]
        return durable ? arguments : arguments + ["--no-sync"]
    }

    /// The arguments of a single session without a server, which creates the database.
    func singleUserArguments(data: String) -> [String] {
        let arguments = ["--single", "-D", data, "-c", "exit_on_error=on"]
        return (durable ? arguments : arguments + ["-F"]) + ["postgres"]
    }

    func serverArguments(layout: ClusterLayout) -> [String] {
        var settings = [
            "listen_addresses=\(tcpPort == nil ? "" : "127.0.0.1")", "port=\(tcpPort ?? ClusterLayout.port)",
            "unix_socket_directories=\(layout.socketFolder)",
            "unix_socket_permissions=0700",
            // The values are small, for one machine. 250 connections are enough for an administrator and the pools of
            // several Grandstand servers, which have at most about 30 connections each.
            "max_connections=250", "shared_buffers=32MB", "max_wal_size=256MB", "jit=off",
            // Tests run ANALYZE themselves, because a query plan must not depend on when autovacuum runs.
            "autovacuum=\(durable ? "on" : "off")",
            // The server's log does not have the errors of statements: clients get these errors and log them, and in
            // the server's log they would only fill the disk.
            "logging_collector=off", "log_destination=stderr", "log_min_messages=log", "log_checkpoints=off",
            "log_line_prefix=%m [%p] ", "log_timezone=UTC",
        ]
        if !durable { settings += ["fsync=off", "full_page_writes=off"] }
        return ["-D", layout.data] + settings.flatMap { ["-c", $0] }
    }
}
