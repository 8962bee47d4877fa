internal import Testing

@testable internal import Postgres

/// Connection strings are checked before anything is opened.
struct ConnectionStringTests {
    @Test(arguments: [
        "postgres://a:b@one,two/x?target_session_attrs=read-write", "postgresql://", "postgres://h:5432,i:5433/x",
        "postgres://[::1]:5432/x?sslmode=verify-full", "host=one,two port=5432 dbname=x", "host='/tmp/a b' user=me",
        "host=one,two port=1,2", "host=standby", "grandstand", "postgres:///x?host=/var/run/postgresql",
        "password=a://b host=x", "service=main",
    ])
    func `a connection string that libpq can use is accepted`(_ text: String) {
        #expect(ConnectionString.fault(in: text) == nil)
    }

    @Test(arguments: [
        "postgres://secret%zz@h/x", "postgres://me:secret@h/x?bogus=1", "postgres://me:secret@h/x?port=abc",
        "postgres://[secret", "postgres://me:secret@h:99999999/x", "postgres://me:secret@h/x?sslmode=bogus",
        "mysql://me:secret@h/x", "mysql://me:secret@h/x?a=b", "POSTGRES://me:secret@h/x", "host=one secret",
        "host=one password='secret", "host=one bogus=secret", "postgres://me:secret@one,two:1,2:2,three:3,x:0/x",
        "host=one,two,three port=1,2 password=secret", "target_session_attrs=primary,secret",
        "connect_timeout=secret", "postgres://me:secret@h/x?sslmode=require=secret",
    ])
    func `an unusable connection string is refused in one line without a password`(_ text: String) throws {
        let fault = try #require(ConnectionString.fault(in: text))
        #expect(!fault.contains("secret") && !fault.contains("\n") && !fault.isEmpty, "\(fault)")
    }

    @Test func `the error of an unknown option names it`() {
        #expect(
            ConnectionString.fault(in: "postgres://h/x?bogus=1")
                == "it has an option that PostgreSQL does not know, bogus")
        #expect(ConnectionString.fault(in: "mysql://h/x") == "its scheme is neither postgres nor postgresql")
        #expect(ConnectionString.fault(in: "host=h port=99999999") == "its port is not a number from 1 to 65535")
    }
}

/// The options passed to libpq.
struct ConnectorTests {
    private static func parameters(_ change: (inout PostgresConfiguration) -> Void) -> [String: String] {
        var configuration = PostgresConfiguration(connectionString: "postgres://one,two/grandstand")
        change(&configuration)
        let connector = Connector(configuration: configuration, logger: TestCluster.quiet)
        return Dictionary(uniqueKeysWithValues: connector.parameters.map { ($0.keyword, $0.value) })
    }

    @Test func `a host that disappears is noticed within seconds, when connecting and afterwards`() {
        let expected = [
            "connect_timeout": "3", "tcp_user_timeout": "5000", "keepalives_idle": "2", "keepalives_interval": "1",
            "keepalives_count": "3",
        ]
        #expect(Self.parameters { _ in }.filter { expected[$0.key] != nil } == expected)
    }

    @Test func `a writing pool looks for a primary, unless the connection string says otherwise`() throws {
        #expect(Self.parameters { $0.mustWrite = true }["target_session_attrs"] == "read-write")
        let connector = Connector(configuration: .init(connectionString: "host=one"), logger: TestCluster.quiet)
        let names = connector.parameters.map(\.keyword)
        let own = try #require(names.firstIndex(of: "dbname"))
        for name in ["connect_timeout", "target_session_attrs", "keepalives_idle", "tcp_user_timeout"] {
            #expect(try #require(names.firstIndex(of: name)) < own)
        }
    }
}
