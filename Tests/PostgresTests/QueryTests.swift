internal import Testing

@testable internal import Postgres

struct QueryTests {
    @Test func `values become parameters and never SQL`() {
        let evil = "'; drop table apps; --"
        let query: PostgresQuery = "select * from apps where name = \(evil) and n = \(5)"
        #expect(query.sql == "select * from apps where name = $1 and n = $2")
        #expect(query.bindings == [PostgresBinding(evil), PostgresBinding(5)])
    }

    @Test func `the parameters of a nested query are renumbered`() {
        let inner: PostgresQuery = "b = \(2) or c = \(3)"
        let query: PostgresQuery = "select where a = \(1) and (\(inner)) and d = \(4)"
        #expect(query.sql == "select where a = $1 and (b = $2 or c = $3) and d = $4")
        #expect(query.bindings == [1, 2, 3, 4].map { PostgresBinding($0) })
    }
}
