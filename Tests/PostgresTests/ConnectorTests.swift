internal import Testing

@testable internal import Postgres

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
