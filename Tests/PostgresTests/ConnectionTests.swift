internal import FoundationEssentials
internal import Postgres
internal import Testing

@Suite(.timeLimit(.minutes(20)))
struct ConnectionTests {
    @Test func `an error has SQLSTATE and names`() async throws {
        try await TestCluster.withConnection { connection in
            try await connection.script("create temporary table t (id bigint constraint t_id unique check (id > 0))")
            try await connection.query("insert into t values (\(1))")
            await #expect {
                try await connection.query("insert into t values (\(1))")
            } throws: { error in
                let error = error as? PostgresError
                return error?.sqlState == .uniqueViolation && error?.message.contains("t_id") ?? false
            }
            await #expect {
                try await connection.query("insert into t values (\(0))")
            } throws: { ($0 as? PostgresError)?.sqlState == .init(rawValue: "23514") }
            #expect(try await connection.query("select count(*) from t")[0].decode(Int.self) == 1)
        }
    }

    @Test
    func `session settings apply to every connection, and one that the server does not know fails the connection`()
        async throws
    {
        let pool = try await TestCluster.pool { $0.sessionSettings = ["jit": "off", "lock_timeout": "7s"] }
        let rows = try await pool.query("select current_setting('jit') as jit, current_setting('lock_timeout') as lock")
        #expect(try rows[0].decode(String.self, "jit") == "off")
        #expect(try rows[0].decode(String.self, "lock") == "7s")
        await pool.close()

        let refused = try await TestCluster.pool {
            $0.sessionSettings = ["no_such_setting": "on"]
            $0.acquireTimeout = .milliseconds(200)
        }
        await #expect(throws: PostgresError.self) { try await refused.query("select 1") }
        await refused.close()
    }

    @Test func `a pipeline answers in order, and its first error leaves the connection usable`()
        async throws
    {
        try await TestCluster.withConnection { connection in
            let results = try await connection.pipeline((1...50).map { "select \($0) as n" })
            #expect(try results.map { try $0[0].decode(Int.self, "n") } == Array(1...50))
            try await connection.script("create temporary table p (n bigint)")
            await #expect {
                try await connection.pipeline([
                    "insert into p values (\(1))", "select 1 / \(0)", "insert into p values (\(2))",
                ])
            } throws: { ($0 as? PostgresError)?.sqlState == .init(rawValue: "22012") }
            // The pipeline was one transaction, so its first insert was rolled back.
            #expect(try await connection.query("select count(*) from p")[0].decode(Int.self) == 0)
        }
    }

    @Test func `more statements than the cache holds are executed, on a new connection`() async throws {
        try await TestCluster.with(1, { $0.statementCacheSize = 4 }) { pool in
            for number in 0..<20 {
                let query = PostgresQuery(unsafeSQL: "select \(number)::bigint + $1 as n", bindings: [.init(1)])
                #expect(try await pool.query(query)[0].decode(Int.self, "n") == number + 1)
            }
            let prepared = try await pool.query("select count(*) from pg_prepared_statements")
            #expect(try prepared[0].decode(Int.self) <= 5)
        }
    }

    @Test func `after a statement whose result type changed with the schema the connection is replaced`() async throws {
        try await TestCluster.with(1) { pool in
            try await pool.withConnection { try await $0.script("create table changed (a bigint)") }
            #expect(try await pool.query("select * from changed").isEmpty)
            try await pool.withConnection { try await $0.script("alter table changed add b text") }
            #expect(await kind { try await pool.query("select * from changed") } == .connectionLost)
            #expect(try await pool.query("select * from changed").isEmpty)
        }
    }

    @Test func `a query past its deadline is cancelled at the server, and the connection stays open`() async throws {
        try await TestCluster.withConnection({ $0.queryTimeout = .milliseconds(200) }) { connection in
            #expect(await kind { try await connection.query("select pg_sleep(30)") } == .timedOut)
            let next = await kind(within: .forRequest(.seconds(60))) { try await connection.query("select 1") }
            #expect(next == nil)
        }
    }

    @Test func `the query of a cancelled task is cancelled at the server, and the connection stays usable`()
        async throws
    {
        try await TestCluster.with(2) { pool in
            let (pid, task) = await sleeper(in: pool)
            try await sleeping(pid, seenBy: pool)
            task.cancel()
            #expect(await kind { try await task.value } == .cancelled)
            // The backend was only asked to cancel: it still exists, and no longer sleeps.
            let alive = try await pool.query(
                "select count(*) from pg_stat_activity where pid = \(pid) and wait_event is distinct from 'PgSleep'")
            #expect(try alive[0].decode(Int.self) == 1)
        }
    }

    @Test func `if a backend is terminated during a query the connection is lost, and the next query gets another`()
        async throws
    {
        try await TestCluster.with(2) { pool in
            let (pid, task) = await sleeper(in: pool)
            try await sleeping(pid, seenBy: pool)
            try await pool.query("select pg_terminate_backend(\(pid)::int)")
            #expect(await kind { try await task.value } == .connectionLost)
            #expect(try await pool.query("select 1::bigint")[0].decode(Int.self) == 1)
        }
    }

    @Test func `two tasks on one connection are an error`() async throws {
        try await TestCluster.with(2) { pool in
            try await pool.withConnection { connection in
                let pid = connection.backendPID
                let first = Task { try await connection.query("select pg_sleep(30)") }
                try await sleeping(pid, seenBy: pool)
                #expect(await kind { try await connection.query("select 1") } == .misuse)
                first.cancel()
                _ = await first.result
            }
        }
    }

    /// A task that sleeps at the server, and the backend in which it sleeps.
    private func sleeper(in pool: PostgresPool) async -> (pid: Int, Task<Void, any Error>) {
        let (pids, tell) = AsyncStream.makeStream(of: Int.self)
        let task = Task {
            try await pool.withConnection { connection in
                tell.yield(connection.backendPID)
                try await connection.query("select pg_sleep(30)")
            }
        }
        var iterator = pids.makeAsyncIterator()
        return (await iterator.next() ?? 0, task)
    }

    /// Returns when the backend runs pg_sleep. Each check is a round trip.
    private func sleeping(_ pid: Int, seenBy pool: PostgresPool) async throws {
        while try await pool.query(
            "select 1 from pg_stat_activity where pid = \(pid) and wait_event = 'PgSleep'"
        ).isEmpty {}
    }
}

@Suite(.timeLimit(.minutes(20)))
struct ValueTests {
    private func roundTrip<Value: PostgresEncodable & PostgresDecodable & Equatable>(
        _ value: Value, _ type: String
    ) async throws {
        try await TestCluster.with(1) { pool in
            let rows = try await pool.query("select \(value)::\(PostgresQuery(unsafeSQL: type)) as v")
            #expect(try rows[0].decode(Value.self, "v") == value)
        }
    }

    @Test func `values are read as they were written`() async throws {
        for value in [0, 1, -1, Int.max, Int.min] { try await roundTrip(value, "bigint") }
        for value in [Int32.min, 0, .max] { try await roundTrip(value, "integer") }
        for value in [true, false] { try await roundTrip(value, "boolean") }
        for value in [0.0, -1.5, .infinity, .greatestFiniteMagnitude, .leastNonzeroMagnitude] {
            try await roundTrip(value, "double precision")
        }
        for text in ["", "plain", "'; drop table x; --", "ü ⚽️ \n\t\\", String(repeating: "x", count: 1 << 20)] {
            try await roundTrip(text, "text")
        }
        for bytes in [[], [0], Array(0...255)] as [[UInt8]] { try await roundTrip(bytes, "bytea") }
        try await roundTrip(UUID(), "uuid")
        // JSON keeps its text, byte for byte.
        let json = #"{"b" : 1.50e3,"a":[12345678901234567890,"\u26bd"]}"#
        try await roundTrip(PostgresJSON(bytes: Array(json.utf8)), "json")
    }

    @Test(arguments: [0, 946_684_800, 1_671_390_000.123456, 4_102_444_800])
    func `timestamps are read as they were written`(seconds: Double) async throws {
        try await TestCluster.with(1) { pool in
            let date = Date(timeIntervalSince1970: seconds)
            let rows = try await pool.query("select \(date) as v, extract(epoch from \(date))::float8 as epoch")
            #expect(abs(try rows[0].decode(Date.self, "v").timeIntervalSince1970 - seconds) < 0.000_001)
            #expect(abs(try rows[0].decode(Double.self, "epoch") - seconds) < 0.000_001)
        }
    }

    @Test func `arrays are read as they were written`() async throws {
        try await roundTrip([[], [0], Array(0...255)] as [[UInt8]], "bytea[]")
        try await roundTrip([[1], nil] as [[UInt8]?], "bytea[]")
        try await roundTrip([1, -2, Int.max], "bigint[]")
        try await roundTrip([Int](), "bigint[]")
        try await roundTrip(["a", "", "'\"{},\\"], "text[]")
        try await roundTrip([1, nil, 3] as [Int?], "bigint[]")
        try await roundTrip(["a", nil] as [String?], "text[]")
        try await roundTrip([UUID(), UUID()], "uuid[]")
        try await roundTrip([true, false], "boolean[]")
    }

    @Test func `NULL is nil, and for a type without nil an error that names the column`() async throws {
        try await TestCluster.with(1) { pool in
            let nothing: String? = nil
            let rows = try await pool.query("select \(nothing) as v, 1 as n")
            #expect(try rows[0].decode(String?.self, "v") == nil)
            #expect {
                try rows[0].decode(String.self, "v")
            } throws: { ($0 as? PostgresError)?.message.hasPrefix("column v:") ?? false }
        }
    }

    @Test func `a column of another type, or one that does not exist, is an error`() async throws {
        try await TestCluster.with(1) { pool in
            let rows = try await pool.query("select 'x'::text as t, 'infinity'::timestamptz as i, 3000000000 as big")
            for read in [
                { _ = try rows[0].decode(Int.self, "t") }, { _ = try rows[0].decode(Date.self, "i") },
                { _ = try rows[0].decode(Int32.self, "big") }, { _ = try rows[0].decode(Int.self, "nope") },
            ] as [() throws -> Void] {
                #expect { try read() } throws: { ($0 as? PostgresError)?.kind == .decoding }
            }
        }
    }

    @Test func `a value is read without a name only if its row has one column`() async throws {
        try await TestCluster.with(1) { pool in
            let rows = try await pool.query("select n::bigint from generate_series(1, 3) n")
            #expect(try rows.map { try $0.decode(Int.self) } == [1, 2, 3])
            let pairs = try await pool.query("select 1::bigint, 2::bigint")
            #expect { try pairs[0].decode(Int.self) } throws: { ($0 as? PostgresError)?.kind == .decoding }
        }
    }
}
