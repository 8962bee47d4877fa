internal import Foundation
internal import GrandstandTestKit
internal import Postgres
internal import Testing

@testable internal import EmbeddedPostgres
@testable internal import GrandstandCommand
@testable internal import GrandstandServer

/// The grants of packaging/roles.sql: one role makes the schema, another serves.
@Suite(.timeLimit(.minutes(20)))
struct RoleGrantsTests {
    private static let root = URL(filePath: #filePath).appending(path: "../../..").standardized

    @Test func `the owner migrates, and the server serves with the fewest connections`() async throws {
        let folder = try TemporaryFolder()
        let cluster = PostgresCluster(directory: folder.path + "/database", logger: Stage.logger, durable: false)
        let url = try await cluster.start()
        try await withCleanup({ await cluster.stop() }) {
            let administration = PostgresPool(configuration: .init(connectionString: url), logger: Stage.logger)
            let programs = try await Programs.find(nil, in: Programs.folders(), data: "")
            // The script may be run again, so it runs twice here.
            for _ in 1...2 {
                let made = try await Program.run(
                    URL(filePath: programs.folder + "/psql"),
                    [
                        "-X", "-q", "-v", "database=grandstand", "-d", url, "-f",
                        Self.root.appending(path: "packaging/roles.sql").path,
                    ])
                #expect(made.exitCode == 0, "\(made.text)")
            }
            let owner = try await DatabaseSession.connect(.url(url + " user=grandstand_owner"), logger: Stage.logger)
            #expect(try await !owner.migrate().isEmpty)
            await owner.close()

            let settings = ["DATABASE_URL": url + " user=grandstand_server", "GRANDSTAND_DATABASE_CONNECTIONS": "8"]
            try await Stage.place(settings: settings) { environment, simulator in
                try await Stage.serve(environment, simulator: simulator) { stage in
                    try await stage.putLiveEvent()
                    let ids = try await concurrently(40) { n in
                        try await stage.broadcast(#"{"event": "update", "contentState": {"n": \#(n)}}"#)
                    }
                    for id in ids {
                        let states = try await stage.settled(id).deliveryStates
                        #expect(states == ["accepted"] || states == ["superseded"], "\(states)")
                    }
                    #expect(try await HTTPCaller(url: stage.url, secret: nil)("GET", "/readyz").status == 200)
                    let used = try await administration.query(
                        "select count(*) as count from pg_stat_activity where usename = 'grandstand_server'")
                    #expect(try used[0].decode(Int.self, "count") <= 8)
                }
            }

            await administration.close()
        }
    }
}
