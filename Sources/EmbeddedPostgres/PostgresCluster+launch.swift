internal import Foundation
internal import Logging

extension PostgresCluster {
    /// The steps of `start()`, in order.
    func launch() async throws -> ServerProcess {
        let layout = try ClusterLayout.make(directory)
        let lock = try layout.takeLock()
        let version = try layout.version()
        var programs = try await Programs.find(version, in: folders, data: layout.data)
        let account = try ServerAccount.choose(for: layout.data)
        try layout.makeSocketFolder(owner: account)
        if let account {
            let entered = [layout.directory, layout.socketFolder, programs.folder]
            programs.prefix = try await account.prefix(entering: entered)
        }
        if version == nil { try await create(layout, programs, owner: account) }
        let cluster = PreparedCluster(layout: layout, programs: programs, lock: lock)
        try await cluster.stopServer()
        // Files that killed servers left there have numbers of processes that may be others now.
        for name in (try? FileManager.default.contentsOfDirectory(atPath: layout.socketFolder)) ?? [] {
            unlink("\(layout.socketFolder)/\(name)")
        }
        return try await serve(cluster)
    }

    /// The first start: runs `initdb` and creates the database in a temporary folder, which gets its final name when
    /// everything is complete. So an interrupted first start leaves nothing incomplete.
    private func create(_ layout: ClusterLayout, _ programs: Programs, owner: ServerAccount?) async throws {
        let (files, prefix) = (FileManager.default, "postgres.new-")
        for name in (try? files.contentsOfDirectory(atPath: layout.directory)) ?? [] where name.hasPrefix(prefix) {
            try? files.removeItem(atPath: "\(layout.directory)/\(name)")
        }
        let new = "\(layout.directory)/\(prefix)\(UUID().uuidString)"
        try layout.makeFolder(new, 0o700, owner: owner)
        defer { try? files.removeItem(atPath: new) }
        // `trust` asks for no password. Only the data's owner and root can reach the socket, because its folder is
        // 0700, and both can read the files anyway. There is no TCP port, except in some tests.
        let initdb = ["-D", new, "-U", ClusterLayout.name, "--auth=trust", "--encoding=UTF8", "--locale=C"]
        let session = ["--single", "-D", new, "-c", "exit_on_error=on", "-c", "fsync=\(durable)", "postgres"]
        for (program, arguments, input) in [
            ("initdb", durable ? initdb : initdb + ["--no-sync"], ""),
            ("postgres", session, "CREATE DATABASE \(ClusterLayout.name)\n"),
        ] {
            let run = try await programs.run(program, arguments, input: input)
            if run.status == 0 { continue }
            throw PostgresClusterError(
                description: "the embedded database could not be created, initdb said: \(run.output.complaint)")
        }
        try Task.checkCancellation()
        try layout.check(rename(new, layout.data), "make \(layout.data)")
        // Write the new name to disk before anything is committed in the folder.
        if durable { try FileHandle(forReadingAtPath: layout.directory)?.synchronize() }
        logger.info("embedded PostgreSQL created", metadata: ["directory": "\(layout.directory)"])
    }

    /// Starts the server and waits until it accepts connections. The server writes its state to a file, so no connection
    /// and no client program are needed.
    private func serve(_ cluster: PreparedCluster) async throws -> ServerProcess {
        let layout = cluster.layout
        // Begin a new log, and keep the previous one.
        rename(layout.log, "\(layout.log).1")
        let log = try layout.open(layout.log, O_WRONLY | O_APPEND)
        let stale = layout.serverFile
        // Enough for a crash recovery, which replays at most a few hundred megabytes of log.
        let deadline = ContinuousClock.now + .seconds(120)
        while true {
            let server = try ServerProcess(cluster, arguments(layout), log: log, stale: stale)
            do {
                while server.isRunning, ContinuousClock.now < deadline {
                    let file = layout.serverFile
                    if file != stale, file?.contains("\nready") == true { return server }
                    try await Task.sleep(for: .milliseconds(10))
                }
                let text = try? String(contentsOfFile: layout.log, encoding: .utf8)
                let complaint = text?.complaint ?? ""
                // Sessions of a server that was killed end a moment after it. Then the start is repeated.
                let isEarly = complaint.contains("pre-existing shared memory block")
                if isEarly, ContinuousClock.now < deadline { continue }
                throw PostgresClusterError(
                    description: "the embedded database did not start, its log \(layout.log) ends: \(complaint)")
            } catch {
                await server.stop()
                throw error
            }
        }
    }

    /// The arguments of the server. Its settings are on the command line at every start, so that settings of a newer
    /// Grandstand also apply to older data.
    private func arguments(_ layout: ClusterLayout) -> [String] {
        let settings = [
            "listen_addresses=\(tcpPort == nil ? "" : "127.0.0.1")", "port=\(tcpPort ?? ClusterLayout.port)",
            "unix_socket_directories=\(layout.socketFolder)", "unix_socket_permissions=0700",
            "external_pid_file=\(layout.processFile)",
            // The values are small, for one machine. 250 connections are enough for an administrator and the pools of
            // several Grandstand servers, which have at most about 30 connections each.
            "max_connections=250", "shared_buffers=32MB", "max_wal_size=256MB", "jit=off",
            // Tests run ANALYZE themselves, because a query plan must not depend on when autovacuum runs.
            "autovacuum=\(durable)", "fsync=\(durable)", "full_page_writes=\(durable)",
            // The server's log does not have the errors of statements: clients get these errors and log them, and in
            // the server's log they would only fill the disk.
            "log_min_messages=log", "log_checkpoints=off", "log_line_prefix=%m [%p] ",
        ]
        return ["-D", layout.data] + settings.flatMap { ["-c", $0] }
    }
}
