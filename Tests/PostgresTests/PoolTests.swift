internal import EmbeddedPostgres
internal import FoundationEssentials
internal import GrandstandTestKit
internal import Logging
internal import Postgres
internal import Synchronization
internal import Testing

@Suite(.timeLimit(.minutes(20)))
struct PoolTests {
    @Test func `a transaction commits when its body returns, and rolls back when it throws or ignored an error`()
        async throws
    {
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
            await #expect {
                try await pool.transaction { connection in
                    try await connection.query("insert into t values (5)")
                    _ = try? await connection.query("select 1 / \(0)")
                }
            } throws: { ($0 as? PostgresError)?.kind == .misuse }
            // The block sends no statement, so no transaction begins.
            try await pool.transaction { _ in }
            #expect(try await pool.query("select sum(n)::bigint from t")[0].decode(Int.self) == 3)
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
        try await TestCluster.with(1) { pool in
            let (held, holding) = AsyncStream.makeStream(of: Void.self)
            let (release, releasing) = AsyncStream.makeStream(of: Void.self)
            let holder = Task {
                try await pool.withConnection { _ in
                    holding.finish()
                    for await _ in release {}
                }
            }
            for await _ in held {}
            let limit = PostgresTimeLimit(maxSilence: .seconds(3_600), maxWait: .milliseconds(200))
            #expect(await kind(within: limit) { try await pool.query("select 1") } == .poolExhausted)
            let cancelled = Task { try await pool.query("select 1") }
            cancelled.cancel()
            #expect(await kind { try await cancelled.value } == .cancelled)
            releasing.finish()
            try await holder.value
            #expect(try await pool.query("select 1::bigint")[0].decode(Int.self) == 1)
        }
    }

    @Test func `the error for a missing database has libpq's text, and comes in time`() async throws {
        var configuration = PostgresConfiguration(
            connectionString: "postgres://me:secret-word@/x?host=/nonexistent-folder")
        configuration.acquireTimeout = .milliseconds(200)
        let (failed, failing) = AsyncStream.makeStream(of: Void.self)
        configuration.onFailure = { _ in failing.finish() }
        let pool = PostgresPool(configuration: configuration, logger: TestCluster.quiet)
        // The text is known when the first attempt to connect has failed. The first caller may have given up before.
        Task { try await pool.query("select 1") }
        for await _ in failed {}
        await #expect {
            try await pool.query("select 1")
        } throws: { error in
            let error = error as? PostgresError
            return error?.kind == .connectionFailed && error?.message.contains("/nonexistent-folder") ?? false
                && !(error?.message.contains("secret-word") ?? true)
        }
        await pool.close()
    }

    @Test func `callers of a share wait for their ceiling, alone and together, and the others do not wait for them`()
        async throws
    {
        final class Held: Sendable { let count = Atomic(0) }
        try await TestCluster.with(5, { $0.maximumShared = 3 }) { pool in
            let held = Held()
            let (one, other) = (PostgresShare("one", most: 2), PostgresShare("other", most: 2))
            let (gate, opener) = AsyncStream.makeStream(of: Void.self)
            let holders = [one, one, one, other, other].map { share in
                Task {
                    try await pool.withConnection(of: share) { _ in
                        held.count.add(1, ordering: .relaxed)
                        for await _ in gate {}
                    }
                }
            }
            while held.count.load(ordering: .relaxed) < 3 { await Task.yield() }
            for _ in 0..<20 { #expect(try await pool.query("select 1::bigint")[0].decode(Int.self) == 1) }
            #expect(held.count.load(ordering: .relaxed) == 3)
            opener.finish()
            for holder in holders { try await holder.value }
        }
    }

    @Test func `a connection that came too late for its caller is used for the next`() async throws {
        try await TestCluster.with(1) { (pool) async throws in
            _ = await kind(within: .forRequest(.zero)) { try await pool.query("select 1") }
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
        configuration.acquireTimeout = .seconds(600)
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
        // After a heartbeat, the connection's last query would be another one than `listen`.
        try await TestCluster.with(4, { $0.listenerHeartbeat = .seconds(3_600) }) { pool in
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
        for (name, address) in [("first", first), ("second", second)] {
            try await PostgresCluster.withPool(address) {
                try await $0.query(PostgresQuery(unsafeSQL: "create table t as select '\(name)'::text as server"))
            }
        }
        let pool = PostgresPool(configuration: configuration, logger: TestCluster.quiet)
        try await body(pool) {
            try await PostgresCluster.withPool(first) { pool in
                try await pool.query("alter system set default_transaction_read_only = on")
                try await pool.query("select pg_reload_conf()")
                while try await pool.query("show default_transaction_read_only")[0].decode(String.self) != "on" {}
            }
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

/// A pool delivers what RAISE NOTICE sends in its transactions.
@Suite(.timeLimit(.minutes(20)))
struct NoticeTests {
    private final class Heard: Sendable {
        private let calls = Mutex<[[String]]>([])

        var all: [[String]] { calls.withLock { $0 } }

        func hear(_ notices: [PostgresError]) { calls.withLock { $0.append(notices.map(\.message)) } }
    }

    private static let notice: PostgresQuery = "do $$ begin raise notice 'one' using errcode = 'GS001'; end $$"

    private func withPool(_ body: (PostgresPool, Heard) async throws -> Void) async throws {
        let heard = Heard()
        try await TestCluster.with(1, { $0.onNotices = heard.hear }) { try await body($0, heard) }
    }

    @Test func `the notices of a transaction are delivered together, after its end and before its caller continues`()
        async throws
    {
        try await withPool { pool, heard in
            try await pool.transaction { connection in
                try await connection.query(Self.notice)
                try await connection.query("do $$ begin raise notice 'two' using errcode = 'GS001'; end $$")
                #expect(heard.all == [])
            }
            #expect(heard.all == [["one", "two"]])
            try await pool.query(Self.notice)
            #expect(heard.all == [["one", "two"], ["one"]])
            try await pool.transaction {
                try await $0.query(Self.notice)
            } closing: { _ in
                ["do $$ begin raise notice 'last' using errcode = 'GS001'; end $$"]
            } _: { _, _ in
                #expect(heard.all.last == ["one", "last"])
            }
        }
    }

    @Test func `notices of a transaction that was rolled back are delivered, too`() async throws {
        struct Failure: Error {}
        try await withPool { pool, heard in
            await #expect(throws: Failure.self) {
                try await pool.transaction { connection in
                    try await connection.query(Self.notice)
                    throw Failure()
                }
            }
            #expect(heard.all == [["one"]])
        }
    }
}
