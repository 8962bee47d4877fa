internal import Grandstand
internal import Logging
internal import Postgres
internal import Testing

@testable internal import GrandstandServer

/// The kinds of database faults are distinguished by SQLSTATE, by libpq's message, or by how a statement ended.
struct DatabaseFindingTests {
    @Test(
        arguments: [
            (.diskFull, ["53100"]), (.serverFault, ["53200", "58030"]), (.tooFewConnections, ["53300"]),
            (.readOnly, ["25006"]), (.accessRefused, ["28P01", "3D000", "42501"]), (.unreachable, ["57P01", "57P03"]),
            (.schema, ["3F000", "42P01", "42703", "42883"]),
            // A refused statement is not a fault of the database.
            (nil, ["23505", "40001", "57014", "42601"]),
        ] as [(DatabaseTrouble?, [String])])
    func `PostgreSQL's error code decides which trouble of the database is reported`(
        trouble: DatabaseTrouble?, sqlStates: [String]
    ) {
        for sqlState in sqlStates {
            var error = PostgresError(.server, trouble == nil ? "No space left on device" : "")
            error.sqlState = PostgresSQLState(rawValue: sqlState)
            #expect(DatabaseFinding(error)?.trouble == trouble)
        }
    }

    @Test func `without an error code the way in which the statement ended decides the reported trouble`() {
        var error = PostgresError(.timedOut, "")
        #expect(DatabaseFinding(error)?.trouble == .slow)
        error.isUnreplicated = true
        #expect(DatabaseFinding(error)?.trouble == .standbyAway)
        #expect(DatabaseFinding(PostgresError(.connectionLost, ""))?.trouble == .unreachable)
    }

    @Test(arguments: [
        (#"FATAL:  password authentication failed for user "grandstand""#, DatabaseTrouble.accessRefused),
        ("fe_sendauth: no password supplied", .accessRefused),
        (#"FATAL:  no pg_hba.conf entry for host "10.0.0.1", user "g""#, .accessRefused),
        (#"FATAL:  role "grandstand" does not exist"#, .accessRefused),
        (#"FATAL:  database "grandstand" does not exist"#, .accessRefused),
        ("FATAL:  sorry, too many clients already", .tooFewConnections),
        ("FATAL:  remaining connection slots are reserved for roles with the SUPERUSER attribute", .tooFewConnections),
        (#"FATAL:  too many connections for role "grandstand""#, .tooFewConnections),
        ("FATAL:  no more connections allowed (max_client_conn)", .tooFewConnections),
        ("FATAL:  could not write lock file: No space left on device", .diskFull),
        (#"connection to server at "db" (10.0.0.1), port 5432 failed: session is read-only"#, .readOnly),
        (#"connection to server at "db", port 5432 failed: Connection refused"#, .unreachable),
        (#"root certificate file "/etc/x.pem" does not exist"#, .unreachable),
    ])
    func `libpq's message shows why no connection was opened`(message: String, trouble: DatabaseTrouble) {
        #expect(DatabaseFinding(PostgresError(.connectionFailed, message))?.trouble == trouble)
    }

    @Test func `a call that times out makes the database slow, and a missing table makes the process unready`() {
        let watch = DatabaseWatch(logger: Logger(label: "watch") { _ in SwiftLogNoOpLogHandler() })
        watch.saw(PostgresError(.timedOut, "the query's time was up"))
        var missing = PostgresError(.server, #"relation "events" does not exist"#)
        missing.sqlState = PostgresSQLState(rawValue: "42P01")
        watch.saw(missing)
        #expect(watch.active.map(\.finding.trouble) == [.schema, .slow])
        #expect(watch.active.map(\.stops) == [true, false])
    }
}

/// How the connections of a process are shared among its pools.
struct PoolSizesTests {
    @Test func `the pools use exactly the allowed number of connections, and with more in total none has fewer`() {
        for total in PoolSizes.minimum...1_000 {
            let (sizes, more) = (PoolSizes(total: total), PoolSizes(total: total + 1))
            #expect(PoolSizes.Pool.allCases.map { sizes[$0] }.reduce(1, +) == total)
            for pool in PoolSizes.Pool.allCases { #expect(sizes[pool] >= 1 && sizes[pool] <= more[pool]) }
            #expect(sizes[.requests] < 4 || sizes.maxShared <= sizes[.requests] / 2)
        }
    }
}
