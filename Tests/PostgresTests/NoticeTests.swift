internal import Postgres
internal import Synchronization
internal import Testing

/// A pool delivers what RAISE NOTICE sends in its transactions.
@Suite(.timeLimit(.minutes(20)))
struct NoticeTests {
    private final class Heard: Sendable {
        private let calls = Mutex<[[String]]>([])

        var all: [[String]] { calls.withLock { $0 } }

        func hear(_ messages: [String]) { calls.withLock { $0.append(messages) } }
    }

    private static let notice: PostgresQuery = "do $$ begin raise notice 'one' using errcode = 'GS001'; end $$"

    private func withPool(_ body: (PostgresPool, Heard) async throws -> Void) async throws {
        let heard = Heard()
        let pool = try await TestCluster.pool(maximumConnections: 1) {
            $0.notices = PostgresNotices(sqlState: .init(rawValue: "GS001")) { heard.hear($0) }
        }
        try await body(pool, heard)
        await pool.close()
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

    @Test func `notices of an undone savepoint are delivered, too, and notices of another kind are not`() async throws {
        struct Failure: Error {}
        try await withPool { pool, heard in
            await #expect(throws: Failure.self) {
                try await pool.transaction { connection in
                    try await connection.query(Self.notice)
                    throw Failure()
                }
            }
            #expect(heard.all == [["one"]])
            try await pool.query("do $$ begin raise notice 'plain'; raise warning 'loud'; end $$")
            #expect(heard.all == [["one"]])
        }
    }
}
