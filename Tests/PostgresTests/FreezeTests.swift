internal import EmbeddedPostgres
internal import GrandstandTestKit
internal import Postgres
internal import Testing

/// A server whose processes are all stopped. The kernel still accepts connections and bytes for it.
@Suite(.timeLimit(.minutes(20)))
struct FreezeTests {
    enum Way: CaseIterable { case socket, tcp }

    @Test(arguments: Way.allCases)
    func `a request is answered within five seconds, the next ones at once, and all works when the server continues`(
        _ way: Way
    ) async throws {
        try await Self.withServer(way) { cluster, pool in
            try await pool.query("create table t (n integer)")
            let open = AsyncStream.makeStream(of: Void.self)
            // One request has an open transaction, one comes later, and one has to wait for a connection.
            let began = ContinuousClock.now
            let underWay = Task {
                await kind(within: .forRequest()) {
                    try await pool.transaction { connection in
                        try await connection.query("insert into t values (1)")
                        for await _ in open.stream {}
                        try await connection.query("insert into t values (2)")
                    }
                }
            }
            try await until("a connection is in use") { pool.connections.busy == 1 }
            try cluster.freeze(true)
            open.continuation.finish()
            let others = (0..<6).map { _ in
                Task { await kind(within: .forRequest()) { try await pool.query("select 1") } }
            }
            #expect(await underWay.value != nil)
            for other in others { #expect(await other.value != nil) }
            let first = began.duration(to: .now)
            #expect(first > .seconds(3) && first < .seconds(10), "\(first)")
            // Work without a time limit is not given up when the requests are given up.
            let loop = Task { try await pool.query("select 3::bigint")[0].decode(Int.self) }
            let again = ContinuousClock.now
            #expect(await kind(within: .forRequest()) { try await pool.query("select 1") } != nil)
            #expect(again.duration(to: .now) < .seconds(3), "\(again.duration(to: .now))")

            try cluster.freeze(false)
            #expect(try await loop.value == 3)
            #expect(await kind(within: .forRequest()) { try await pool.query("select 1") } == nil)
            // Nothing is left of the work that was given up: no row and no lock.
            #expect(try await pool.query("select from t").isEmpty)
            try await pool.transaction { _ = try await $0.query("lock table t") }
        }
    }

    @Test(arguments: Way.allCases)
    func `after a timeout during a commit the caller learns that it may have happened`(
        _ way: Way
    ) async throws {
        try await Self.withServer(way) { cluster, pool in
            try await pool.query("create table t (n integer)")
            let failure = await kind(within: .forRequest()) {
                try await pool.transaction { connection in
                    try await connection.query("insert into t values (1)")
                    try cluster.freeze(true)
                }
            }
            #expect(failure == .timedOut)
            try cluster.freeze(false)
            // Whether the transaction was committed is known when the server no longer executes the commit.
            try await until("the commit has ended") {
                try await pool.query("select from pg_stat_activity where query = 'commit' and state = 'active'").isEmpty
            }
            try await pool.transaction { _ = try await $0.query("lock table t") }
        }
    }

    /// If only some processes of a server are stopped, a query waits as for a lock that is never released, while other
    /// queries get answers. The test uses such a lock.
    @Test func `the waits of a request are limited together, even if others get answers`() async throws {
        try await Self.withServer(.socket) { _, pool in
            let timeLimit = PostgresTimeLimit(maxSilence: .seconds(4), maxWait: .seconds(4))
            try await pool.withConnection { holder in
                try await holder.query("select pg_advisory_lock(1)")
                let waiting = Task {
                    await PostgresTimeLimit.$current.withValue(timeLimit) {
                        _ = try? await pool.query("select pg_sleep(3)")
                        return await kind { try await pool.query("select pg_advisory_lock(1)") }
                    }
                }
                let began = ContinuousClock.now
                try await until("the query waits for the lock") {
                    try await !holder.query("select from pg_locks where locktype = 'advisory' and not granted").isEmpty
                }
                #expect(timeLimit.rest < .seconds(1.1), "\(timeLimit.rest)")
                #expect(await waiting.value == .timedOut)
                // If each query had its own limit, the two queries together would take seven seconds.
                #expect(began.duration(to: .now) < .seconds(6), "\(began.duration(to: .now))")
                // `renewed()` is for work that serves several callers. The renewed limit has its whole time again.
                #expect(timeLimit.rest < .seconds(0.3) && timeLimit.renewed().rest == .seconds(4))
            }
        }
    }

    @Test func `work that may take long is given up when nobody had an answer for as long as a request may wait`()
        async throws
    {
        try await Self.withServer(.socket) { cluster, pool in
            let long = Task {
                await kind(within: PostgresTimeLimit.forRequest().long) { try await pool.query("select pg_sleep(60)") }
            }
            // The server answers other queries after this query began. After the last of these answers, the query is
            // given up after one time limit, not after two.
            try await until("the query is under way") {
                try await !pool.query(
                    "select from pg_stat_activity where query = 'select pg_sleep(60)' and state = 'active'"
                ).isEmpty
            }
            try cluster.freeze(true)
            let began = ContinuousClock.now
            #expect(await long.value == .timedOut)
            #expect(began.duration(to: .now) < .seconds(6), "\(began.duration(to: .now))")
            try cluster.freeze(false)
        }
    }

    /// The work gets a connection when the others release theirs. By then the pool knows that the server answers
    /// nobody.
    @Test func `work that may take long and waits for a connection is given up soon after the others`() async throws {
        try await Self.withServer(.socket) { cluster, pool in
            try cluster.freeze(true)
            let holders = (0..<4).map { _ in
                Task { await kind(within: .forRequest()) { try await pool.query("select 1") } }
            }
            try await until("all connections are in use") { pool.connections.busy == 4 }
            let waiting = (0..<4).map { _ in
                Task {
                    await kind(within: PostgresTimeLimit.forRequest().long) { try await pool.query("select 2") }
                }
            }
            for holder in holders { #expect(await holder.value == .timedOut) }
            // If each waited for its own time limit, the error would be `timedOut`.
            for one in waiting { #expect(await one.value == .connectionFailed) }
            try cluster.freeze(false)
        }
    }

    /// libpq waits for the server longer than the suite's time limit, so a caller that waits for libpq is found.
    @Test func `an attempt to connect that hangs delays neither a later caller nor a cancelled one nor the end`()
        async throws
    {
        let cluster = TestCluster.own()
        var configuration = PostgresConfiguration(connectionString: try await cluster.start() + " connect_timeout=3600")
        configuration.maximumConnections = 2
        configuration.acquireTimeout = .seconds(3_600)
        let pool = PostgresPool(configuration: configuration, logger: TestCluster.quiet)
        try cluster.freeze(true)
        for _ in 0..<3 {
            let failure = await kind(within: .forRequest(.milliseconds(100))) { try await pool.query("select 1") }
            #expect(failure == .connectionFailed)
        }
        let waiting = Task { try await pool.query("select 1") }
        let cancelled = Task { try await pool.query("select 1") }
        cancelled.cancel()
        #expect(await kind { try await cancelled.value } == .cancelled)
        await pool.close()
        #expect(await kind { try await waiting.value } == .poolClosed)
        try cluster.freeze(false)
        await cluster.stop()
    }

    /// A separate server for one test, and a pool of four open connections.
    private static func withServer(
        _ way: Way, _ body: (PostgresCluster, PostgresPool) async throws -> Void
    ) async throws {
        let cluster = TestCluster.own(tcpPort: way == .tcp ? .random(in: 15_000...30_000) : nil)
        var configuration = PostgresConfiguration(connectionString: try await cluster.start())
        configuration.maximumConnections = 4
        let pool = PostgresPool(configuration: configuration, logger: TestCluster.quiet)
        _ = try await concurrently(4) { _ in try await pool.query("select pg_sleep(0.2)") }
        func stop() async {
            try? cluster.freeze(false)
            await pool.close()
            await cluster.stop()
        }
        try await ending(with: stop) { try await body(cluster, pool) }
    }
}
