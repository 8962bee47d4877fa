internal import Foundation
internal import Testing

@testable internal import EmbeddedPostgres

/// The whole life of a cluster, with PostgreSQL's programs.
@Suite(.timeLimit(.minutes(20)))
struct PostgresClusterTests {
    private let workshop: Workshop

    init() throws {
        workshop = try Workshop()
    }

    @Test func `a started cluster answers queries in its database, with its fixed settings`() async throws {
        try await workshop.withCluster { _, connection in
            let names = try await Workshop.ask(connection, "select current_database(), current_user")
            #expect(names == "grandstand|grandstand")
            // Only its user can enter the socket's folder.
            let attributes = try FileManager.default.attributesOfItem(atPath: workshop.directory + "/run")
            #expect(attributes[.posixPermissions] as? Int == 0o700)
            let settings = try await Workshop.ask(
                connection,
                """
                select name, setting from pg_settings
                where name in ('listen_addresses', 'server_encoding', 'jit', 'max_connections') order by name
                """)
            #expect(settings == "jit|off\nlisten_addresses|\nmax_connections|250\nserver_encoding|UTF8")
            let order = "select datcollate from pg_database where datname = current_database()"
            #expect(try await Workshop.ask(connection, order) == "C")
        }
    }

    @Test func `several starts and stops have the effect of one, and another process finds a running cluster`()
        async throws
    {
        let cluster = workshop.cluster()
        #expect(workshop.cluster().runningElsewhere() == nil)
        let connection = try await cluster.start()
        #expect(try await cluster.start() == connection)
        #expect(workshop.cluster().runningElsewhere() == connection)
        async let first: Void = cluster.stop()
        async let second: Void = cluster.stop()
        _ = await (first, second)
        await cluster.stop()
        await #expect(throws: ProgramFailure.self) { try await Workshop.ask(connection, "select 1") }
        #expect(workshop.cluster().runningElsewhere() == nil)
    }

    @Test(arguments: [String(repeating: "long/", count: 24) + "path", "it's a \\ \"path\" $HOME", "one, two"])
    func `a cluster with a path that is long, or has signs with a meaning, serves`(path: String) async throws {
        #expect(try await workshop.answer("select 1", at: "\(workshop.folder)/\(path)") == "1")
    }

    @Test func `two directories with long paths have different socket folders`() {
        let long = "/" + String(repeating: "d", count: ClusterLayout.socketPathLimit)
        #expect(ClusterLayout(directory: long).socketFolder == ClusterLayout(directory: long).socketFolder)
        #expect(ClusterLayout(directory: long).socketFolder != ClusterLayout(directory: long + "e").socketFolder)
        #expect(ClusterLayout(directory: "/srv/grandstand").socketFolder == "/srv/grandstand/run")
    }
}
