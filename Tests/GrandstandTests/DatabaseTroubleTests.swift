internal import Grandstand
internal import Testing

/// The kinds of database faults are distinguished by SQLSTATE, by libpq's message, or by how a statement ended.
struct DatabaseTroubleTests {
    @Test(arguments: [
        ("53100", DatabaseTrouble.diskFull), ("53200", .serverFault), ("58030", .serverFault),
        ("53300", .tooFewConnections), ("25006", .readOnly), ("28P01", .accessRefused), ("3D000", .accessRefused),
        ("42501", .accessRefused), ("57P01", .unreachable), ("57P03", .unreachable),
    ])
    func `PostgreSQL's error code decides which trouble of the database is reported`(
        sqlState: String, trouble: DatabaseTrouble
    ) {
        #expect(DatabaseTrouble(.refused, sqlState: sqlState, message: "") == trouble)
    }

    @Test(arguments: ["23505", "40001", "57014", "42601"])
    func `a refused statement is not a fault of the database`(sqlState: String) {
        #expect(DatabaseTrouble(.refused, sqlState: sqlState, message: "No space left on device") == nil)
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
        (#"could not translate host name "db" to address: Name or service not known"#, .unreachable),
        (#"root certificate file "/etc/x.pem" does not exist"#, .unreachable),
    ])
    func `libpq's message shows why no connection was opened`(message: String, trouble: DatabaseTrouble) {
        #expect(DatabaseTrouble(.connecting, sqlState: nil, message: message) == trouble)
    }

    @Test func `without an error code the way in which the statement ended decides the reported trouble`() {
        #expect(DatabaseTrouble(.lost, sqlState: nil, message: "") == .unreachable)
        #expect(DatabaseTrouble(.timedOut, sqlState: nil, message: "") == .slow)
        #expect(DatabaseTrouble(.unconfirmed, sqlState: nil, message: "") == .standbyAway)
    }

    @Test func `each kind of database trouble has its own text, which says what to do`() {
        let all = DatabaseTrouble.allCases
        #expect(Set(all.map(\.finding)).count == all.count)
        #expect(Set(all.map(\.advice)).count == all.count)
        for trouble in all {
            let problem = Problem.unavailable(trouble, isUnknown: false)
            #expect(problem.kind == .storeUnavailable)
            #expect(problem.detail.contains(trouble.finding) && problem.detail.contains(trouble.advice))
            #expect(problem.trouble == trouble)
        }
    }
}
