internal import EmbeddedPostgres
internal import FoundationEssentials
internal import Logging
internal import Postgres
internal import Testing

#if canImport(Darwin)
    private import Darwin
#elseif canImport(Glibc)
    private import Glibc
#elseif canImport(Musl)
    private import Musl
#endif

@Suite(.timeLimit(.minutes(20)))
struct PoolTests {
    @Test func `a transaction commits when its body returns and rolls back when it throws`() async throws {
        struct Failure: Error {}
        try await TestCluster.with(1) { pool in
            try await pool.withConnection { try await $0.script("create temporary table t (n bigint)") }
            try await pool.transaction { connection in
                try await connection.query("insert into t values (1)")
                try await connection.query("insert into t values (2)")
            }
            await #expect(throws: Failure.self) {
                try await pool.transaction { connection in
                    try await connection.query("insert into t values (3)")
                    throw Failure()
                }
            }
            await #expect {
                try await pool.transaction { connection in
                    try await connection.query("insert into t values (4)")
                    try await connection.query("select 1 / \(0)")
                }
            } throws: { ($0 as? PostgresError)?.sqlState == .init(rawValue: "22012") }
            // The block sends no statement, so no transaction begins.
            try await pool.transaction { _ in }
            #expect(try await pool.query("select sum(n)::bigint from t")[0].decode(Int.self) == 3)
        }
    }

    @Test func `a transaction whose body ignored an error is rolled back with an error`() async throws {
        try await TestCluster.with(1) { pool in
            try await pool.withConnection { try await $0.script("create temporary table t (n bigint)") }
            await #expect {
                try await pool.transaction { connection in
                    try await connection.query("insert into t values (1)")
                    _ = try? await connection.query("select 1 / \(0)")
                }
            } throws: { ($0 as? PostgresError)?.kind == .misuse }
            #expect(try await pool.query("select count(*) from t")[0].decode(Int.self) == 0)
        }
    }

    @Test func `COPY is refused at once and only costs its connection`() async throws {
        try await TestCluster.with(1) { (pool) async throws in
            for query in ["copy (select 1) to stdout", "copy pg_class from stdin"] {
                await #expect {
                    try await pool.query(PostgresQuery(unsafeSQL: query))
                } throws: { ($0 as? PostgresError)?.kind != nil }
            }
            #expect(
                await kind { try await pool.withConnection { try await $0.script("copy (select 1) to stdout") } }
                    == .misuse)
            #expect(try await pool.query("select 1::bigint")[0].decode(Int.self) == 1)
        }
    }

    @Test func `a cancelled transaction is rolled back, and its connection is used again`() async throws {
        try await TestCluster.with(1) { pool in
            try await pool.withConnection { try await $0.script("create temporary table t (n bigint)") }
            let (inside, entered) = AsyncStream.makeStream(of: Void.self)
            let task = Task {
                try await pool.transaction { connection in
                    try await connection.query("insert into t values (1)")
                    entered.finish()
                    try await connection.query("select pg_sleep(30)")
                }
            }
            for await _ in inside {}
            task.cancel()
            #expect(await kind { try await task.value } == .cancelled)
            #expect(try await pool.query("select count(*) from t")[0].decode(Int.self) == 0)
        }
    }

    @Test func `many callers share few connections, and each gets its own answer`() async throws {
        try await TestCluster.with(3) { pool in
            try await withThrowingTaskGroup(of: (Int, Int).self) { group in
                for number in 0..<300 {
                    group.addTask { (number, try await pool.query("select \(number) as n")[0].decode(Int.self, "n")) }
                }
                for try await (asked, answered) in group { #expect(asked == answered) }
            }
            #expect((1...3).contains(pool.connections.idle + pool.connections.busy))
        }
    }

    @Test func `a caller that waits too long is refused, a cancelled one leaves the queue, and no connection is lost`()
        async throws
    {
        try await TestCluster.with(1, { $0.acquireTimeout = .seconds(1) }) { pool in
            let (held, holding) = AsyncStream.makeStream(of: Void.self)
            let (release, releasing) = AsyncStream.makeStream(of: Void.self)
            let holder = Task {
                try await pool.withConnection { _ in
                    holding.finish()
                    for await _ in release {}
                }
            }
            for await _ in held {}
            #expect(await kind { try await pool.query("select 1") } == .poolExhausted)
            let cancelled = Task { try await pool.query("select 1") }
            cancelled.cancel()
            #expect(await kind { try await cancelled.value } == .cancelled)
            releasing.finish()
            try await holder.value
            #expect(try await pool.query("select 1::bigint")[0].decode(Int.self) == 1)
        }
    }

    @Test func `callers of a closed pool get an error, and closing it twice does nothing`() async throws {
        let pool = try await TestCluster.pool(maximumConnections: 1)
        _ = try await pool.query("select 1")
        await pool.close()
        await pool.close()
        #expect(await kind { try await pool.query("select 1") } == .poolClosed)
    }

    @Test func `the error for a missing database has libpq's text, and comes in time`() async throws {
        var configuration = PostgresConfiguration(
            connectionString: "postgres://me:secret-word@/x?host=/nonexistent-folder")
        configuration.acquireTimeout = .milliseconds(200)
        let pool = PostgresPool(configuration: configuration, logger: TestCluster.quiet)
        await #expect {
            try await pool.query("select 1")
        } throws: { error in
            let error = error as? PostgresError
            return error?.kind == .connectionFailed && error?.message.contains("/nonexistent-folder") ?? false
                && !(error?.message.contains("secret-word") ?? true)
        }
        await pool.close()
    }

    /// A server that accepts connections, like the kernel for a server that hangs, and sends nothing; and a pool for it. libpq waits for it longer than
    /// the suite's time limit, so a caller that waits for libpq is found.
    private static func silentServer(_ maximumConnections: Int) throws -> (end: () -> Void, pool: PostgresPool) {
        let folder = FileManager.default.temporaryDirectory.path + "/gs-silent-\(UUID().uuidString.prefix(8))"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        #if canImport(Glibc)
            let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        #else
            let descriptor = socket(AF_UNIX, SOCK_STREAM, 0)
        #endif
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array("\(folder)/.s.PGSQL.5432".utf8)) }
        let length = socklen_t(MemoryLayout<sockaddr_un>.size)
        let bound = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor, $0, length) }
        }
        try #require(bound == 0 && listen(descriptor, 16) == 0)
        let end = {
            close(descriptor)
            try? FileManager.default.removeItem(atPath: folder)
        }
        var configuration = PostgresConfiguration(
            connectionString: "host='\(folder)' dbname=x connect_timeout=3600")
        configuration.maximumConnections = maximumConnections
        configuration.acquireTimeout = .seconds(3_600)
        configuration.reachTimeout = .milliseconds(100)
        return (end, PostgresPool(configuration: configuration, logger: TestCluster.quiet))
    }

    @Test
    func `a connection attempt that hangs delays neither a later caller nor a cancelled one nor the end of the pool`()
        async throws
    {
        let (end, pool) = try Self.silentServer(3)
        defer { end() }
        #expect(await kind { try await pool.query("select 1") } == .connectionFailed)
        let (cancelled, waiting) = (
            Task { try await pool.withConnection(within: .seconds(3_600)) { _ in } },
            Task { try await pool.withConnection(within: .seconds(3_600)) { _ in } }
        )
        // The pool may have three connections, and each of them is being opened.
        while pool.connections.busy < 3 { await Task.yield() }
        cancelled.cancel()
        #expect(await kind { try await cancelled.value } == .cancelled)
        await pool.close()
        #expect(await kind { try await waiting.value } == .poolClosed)
    }

    @Test func `the error of a caller in the queue also says that the database does not answer`() async throws {
        let (end, pool) = try Self.silentServer(1)
        defer { end() }
        let first = Task { try await pool.withConnection(within: .seconds(3_600)) { _ in } }
        while pool.connections.busy < 1 { await Task.yield() }
        #expect(await kind { try await pool.query("select 1") } == .connectionFailed)
        await pool.close()
        _ = await first.result
    }

    @Test func `a connection that came too late for its caller is used for the next`() async throws {
        try await TestCluster.with(1) { (pool) async throws in
            let hasty = Task { try await pool.withConnection(within: .zero) { _ in } }
            _ = await hasty.result
            #expect(try await pool.query("select 1::bigint")[0].decode(Int.self) == 1)
            #expect(pool.connections.idle + pool.connections.busy == 1)
        }
    }

    @Test func `the pool survives a restart of the server, and uses a second host if the first is missing`()
        async throws
    {
        let cluster = TestCluster.own()
        let first = try await cluster.start()
        // libpq tries the hosts in order. The first one has no server.
        var configuration = PostgresConfiguration(
            connectionString: first.replacing("host='", with: "host='/nonexistent-folder,"))
        configuration.acquireTimeout = .seconds(30)
        let pool = PostgresPool(configuration: configuration, logger: TestCluster.quiet)
        #expect(try await pool.query("select 1::bigint")[0].decode(Int.self) == 1)
        await cluster.stop()
        // The query is sent while the server is down, and answered when it is back.
        let patient = Task { try await pool.query("select 2::bigint")[0].decode(Int.self) }
        _ = try await cluster.start()
        #expect(try await patient.value == 2)
        await pool.close()
        await cluster.stop()
    }

    @Test func `notifications arrive, and listening starts again when its connection is lost`() async throws {
        try await TestCluster.with { pool in
            let channel = "channel_\(UUID().uuidString.prefix(8).lowercased())"
            var heard = pool.notifications(on: [channel]).makeAsyncIterator()
            #expect(await heard.next() == .listening)
            try await pool.query("select pg_notify(\(channel), 'one')")
            #expect(await heard.next() == .notification(channel: channel, payload: "one"))
            try await pool.query(
                """
                select pg_terminate_backend(pid) from pg_stat_activity
                where query = \("listen \"\(channel)\"") and pid <> pg_backend_pid()
                """)
            #expect(await heard.next() == .listening)
            try await pool.query("select pg_notify(\(channel), 'two')")
            #expect(await heard.next() == .notification(channel: channel, payload: "two"))
        }
    }

    /// Two servers in one connection string. After `body` has called `abandon`, the first one refuses writes.
    private func withFailover(
        _ body: (PostgresPool, _ abandon: () async throws -> Void) async throws -> Void
    ) async throws {
        let (one, two) = (TestCluster.own(), TestCluster.own())
        let (first, second) = (try await one.start(), try await two.start())
        let host = /host='([^']+)'/
        let other = try #require(second.firstMatch(of: host)?.output.1)
        var configuration = PostgresConfiguration(
            connectionString: first.replacing(host) { "host='\($0.output.1),\(other)'" })
        configuration.mustWrite = true
        configuration.maximumConnections = 3
        configuration.listenerHeartbeat = .milliseconds(20)
        for address in [first, second] {
            let pool = PostgresPool(configuration: .init(connectionString: address), logger: TestCluster.quiet)
            try await pool.query("create table t (server text)")
            try await pool.query("insert into t values (\(address == first ? "first" : "second"))")
            await pool.close()
        }
        let pool = PostgresPool(configuration: configuration, logger: TestCluster.quiet)
        try await body(pool) {
            let administration = PostgresPool(
                configuration: .init(connectionString: first), logger: TestCluster.quiet)
            try await administration.query("alter system set default_transaction_read_only = on")
            try await administration.query("select pg_reload_conf()")
            while try await administration.query("show default_transaction_read_only")[0].decode(String.self) != "on" {}
            await administration.close()
        }
        await pool.close()
        await one.stop()
        await two.stop()
    }

    @Test func `a server that no longer accepts writes is left, with all its connections, for one that does`()
        async throws
    {
        try await withFailover { pool, abandon in
            // Three connections to the first server.
            try await withThrowingTaskGroup(of: String.self) { group in
                for _ in 0..<3 {
                    group.addTask { try await pool.query("select server from t, pg_sleep(0.1)")[0].decode(String.self) }
                }
                for try await server in group { #expect(server == "first") }
            }
            try await abandon()
            // Each session of the first server learns of the change when it runs next, so a few more queries may be
            // answered there. After the first refusal, this server answers no more queries.
            var refused = false
            while !refused {
                do {
                    try await pool.query("update t set server = server || '!'")
                    refused = try await pool.query("select server from t")[0].decode(String.self).hasPrefix("second")
                } catch {
                    refused = true
                }
            }
            for _ in 0..<6 {
                try await pool.query("update t set server = server || '?'")
                #expect(try await pool.query("select server from t")[0].decode(String.self).hasPrefix("second"))
            }
        }
    }

    @Test func `reads and listeners also move to the new server when theirs stops accepting writes`() async throws {
        try await withFailover { pool, abandon in
            var heard = pool.notifications(on: ["goals"]).makeAsyncIterator()
            #expect(await heard.next() == .listening)
            try await abandon()
            #expect(await heard.next() == .listening)
            _ = try await pool.query("select 1")
            #expect(try await pool.query("select server from t")[0].decode(String.self) == "second")
            try await pool.query("select pg_notify('goals', 'one')")
            #expect(await heard.next() == .notification(channel: "goals", payload: "one"))
        }
    }
}
