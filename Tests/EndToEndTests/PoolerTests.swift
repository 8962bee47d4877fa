internal import EmbeddedPostgres
internal import Foundation
internal import GrandstandTestKit
internal import Postgres
internal import Testing

@testable internal import GrandstandCommand
@testable internal import GrandstandServer

/// PgBouncer between the server and its database.
@Suite(.timeLimit(.minutes(20)), .enabled(if: PgBouncer.program != nil))
struct PoolerTests {
    @Test func `a match can be played through PgBouncer with sessions of its own`() async throws {
        try await Self.withDatabase { folder, database in
            let bouncer = try await PgBouncer.start("session", before: database, in: folder)
            try await Stage.with(settings: ["DATABASE_URL": bouncer.url]) { stage in
                try await stage.putLiveEvent()
                let id = try await stage.broadcast(#"{"event": "update", "contentState": {"n": 1}}"#)
                #expect(try await stage.settled(id).deliveryStates == ["accepted"])
                let path = "/v1/lookup/\(stage.bundleID)/development/derby"
                #expect(try await stage.api("GET", path).status == 200)
            }
            bouncer.stop()
        }
    }

    @Test(arguments: [
        ("transaction", ""), ("transaction", "server_reset_query_always = 1"),
        ("transaction", "server_round_robin = 1"),
        ("statement", ""),
    ])
    func `a PgBouncer that shares sessions between clients is refused at the start with advice`(
        mode: String, settings: String
    ) async throws {
        try await Self.withDatabase { folder, database in
            let bouncer = try await PgBouncer.start(mode, before: database, in: folder, settings: settings)
            // Other clients use PgBouncer, too. So PgBouncer has more than one session of the database, and can give a
            // client another session each time.
            let other = PostgresPool(configuration: .init(connectionString: bouncer.url), logger: Stage.logger)
            await withTaskGroup(of: Void.self) { group in
                for _ in 0..<4 { group.addTask { _ = try? await other.query("select pg_sleep(0.2)") } }
            }
            await other.close()
            let source = Configuration.DatabaseSource.url(bouncer.url)
            let refusal = await #expect(throws: StartError.self) {
                try await DatabaseSession.open(source, logger: Stage.logger).close()
            }
            #expect(refusal?.description.contains("pool_mode = session") == true, "\(refusal?.description ?? "")")
            let session = try await DatabaseSession.connect(source, logger: Stage.logger)
            await #expect(throws: StartError.self) { try await session.migrate() }
            await session.close()
            bouncer.stop()
        }
    }

    private static func withDatabase(_ body: (_ folder: String, _ database: String) async throws -> Void) async throws {
        let folder = try TemporaryFolder()
        let cluster = PostgresCluster(directory: folder.path + "/database", logger: Stage.logger, durable: false)
        try await withCleanup({ await cluster.stop() }) {
            try await body(folder.path, try await cluster.startMigrated())
        }
    }
}
