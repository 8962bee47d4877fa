/// How the server and its data are set up. Given on the command line at every start, so that a newer Grandstand's
/// settings hold on older data.
struct ServerSettings: Sendable {
    /// Whether an acknowledged commit survives a power cut; false is for tests, whose data dies with them.
    let durable: Bool
    /// A port on 127.0.0.1, beside the socket, for tests of what differs there; `nil`: none.
    var tcpPort: Int?

    /// `initdb`'s arguments. `trust` asks no password of a process that reaches the socket; its folder is 0700, so that
    /// is the account the data belongs to, and root, who could both read the files as well. There is no TCP port unless a
    /// test wants one.
    func initdbArguments(data: String) -> [String] {
        let arguments = [
            "-D", data, "-U", ClusterLayout.user, "--auth=trust", "--encoding=UTF8", "--locale=C",
        ]
        return durable ? arguments : arguments + ["--no-sync"]
    }

    /// The arguments for one session without a server, which creates the database.
    func singleUserArguments(data: String) -> [String] {
        let arguments = ["--single", "-D", data, "-c", "exit_on_error=on"]
        return (durable ? arguments : arguments + ["-F"]) + ["postgres"]
    }

    func serverArguments(layout: ClusterLayout) -> [String] {
        var settings = [
            "listen_addresses=\(tcpPort == nil ? "" : "127.0.0.1")", "port=\(tcpPort ?? ClusterLayout.port)",
            "unix_socket_directories=\(layout.socketFolder)",
            "unix_socket_permissions=0700",
            // Small: one machine. 250 connections are the pools of some servers (about 30 each at most) and an administrator.
            "max_connections=250", "shared_buffers=32MB", "max_wal_size=256MB", "jit=off",
            // Tests make their statistics themselves: a plan must not depend on when it is looked at.
            "autovacuum=\(durable ? "on" : "off")",
            // Errors of statements go to the client, which logs them; here they would only fill the disk.
            "logging_collector=off", "log_destination=stderr", "log_min_messages=log", "log_checkpoints=off",
            "log_line_prefix=%m [%p] ", "log_timezone=UTC",
        ]
        if !durable { settings += ["fsync=off", "full_page_writes=off"] }
        return ["-D", layout.data] + settings.flatMap { ["-c", $0] }
    }
}
