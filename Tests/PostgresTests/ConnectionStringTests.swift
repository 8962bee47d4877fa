internal import Testing

@testable internal import Postgres

/// Connection strings are checked before anything is opened.
struct ConnectionStringTests {
    @Test(arguments: [
        "postgres://a:b@one,two/x?target_session_attrs=read-write", "postgresql://", "host='/tmp/a b' user=me",
        "grandstand", "postgres:///x?host=/var/run/postgresql", "password=a://b host=x",
    ])
    func `a connection string that libpq can use is accepted`(_ text: String) {
        #expect(ConnectionString.isReadable(text))
    }

    @Test(arguments: [
        "postgres://secret%zz@h/x", "postgres://me:secret@h/x?bogus=1", "postgres://[secret", "mysql://me:secret@h/x",
        "mysql://me:secret@h/x?a=b", "POSTGRES://me:secret@h/x", "host=one secret", "host=one password='secret",
        "postgres://me:secret@h:99999999/x", "host=h port=abc", "host=h sslmode=bogus",
        "target_session_attrs=primary,secret",
    ])
    func `a connection string that libpq cannot read is refused`(_ text: String) {
        #expect(!ConnectionString.isReadable(text))
    }
}

/// The options passed to libpq.
struct ConnectorTests {
    private static func parameters(_ change: (inout PostgresConfiguration) -> Void) -> [String: String] {
        var configuration = PostgresConfiguration(connectionString: "postgres://one,two/grandstand")
        change(&configuration)
        let connector = Connector(configuration: configuration)
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
        let connector = Connector(configuration: .init(connectionString: "host=one"))
        let names = connector.parameters.map(\.keyword)
        let own = try #require(names.firstIndex(of: "dbname"))
        for name in ["connect_timeout", "target_session_attrs", "keepalives_idle", "tcp_user_timeout"] {
            #expect(try #require(names.firstIndex(of: name)) < own)
        }
    }
}
