internal import Grandstand
internal import Logging
internal import Postgres
internal import Testing

@testable internal import GrandstandServer

/// What failed statements tell about the database.
struct DatabaseWatchTests {
    @Test func `a call that times out makes the database slow, and a missing table makes the process unready`() {
        let watch = DatabaseWatch(logger: Logger(label: "watch") { _ in SwiftLogNoOpLogHandler() })
        watch.saw(PostgresError(.timedOut, "the query's time was up"))
        #expect(watch.standing.map(\.finding.trouble) == [.slow])
        #expect(watch.standing.map(\.stops) == [false])
        var missing = PostgresError(.server, #"relation "events" does not exist"#)
        missing.sqlState = PostgresSQLState(rawValue: "42P01")
        watch.saw(missing)
        #expect(watch.standing.map(\.finding.trouble) == [.schema, .slow])
        #expect(watch.standing.map(\.stops) == [true, false])
    }
}
