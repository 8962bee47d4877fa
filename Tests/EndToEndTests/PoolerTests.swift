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
    @Test func `a match is played through PgBouncer with own sessions, and shared sessions are refused at the start`()
        async throws
    {
        let folder = try TemporaryFolder()
        try await Stage.onCluster { _, environment, _ in
            let database = try #require(environment["DATABASE_URL"])
            let bouncer = try await PgBouncer.start("session", before: database, in: folder.path)
            let settings = ["DATABASE_URL": bouncer.url, "GRANDSTAND_DATABASE_WAIT": "60"]
            try await Stage.with(settings: settings) { stage in
                try await stage.putLiveEvent()
                let id = try await stage.broadcast(#"{"event": "update", "contentState": {"n": 1}}"#)
                #expect(try await stage.settled(id).deliveryStates == ["accepted"])
                let path = "/v1/lookup/\(stage.bundleID)/development/derby"
                #expect(try await stage.api("GET", path).status == 200)
            }
            await bouncer.stop()
            let sharing = [
                ("transaction", ""), ("transaction", "server_reset_query_always = 1"),
                ("transaction", "server_round_robin = 1"), ("statement", ""),
            ]
            for (place, (mode, settings)) in sharing.enumerated() {
                let bouncer = try await PgBouncer.start(
                    mode, before: database, in: "\(folder.path)/\(place)", settings: settings)
                try await Self.expectRefusal(of: bouncer)
                await bouncer.stop()
            }
        }
    }

    private static func expectRefusal(of bouncer: PgBouncer) async throws {
        // Other clients use PgBouncer, too. So PgBouncer has more than one session of the database, and can give a
        // client another session each time.
        let other = PostgresPool(configuration: .init(connectionString: bouncer.url), logger: Stage.logger)
        _ = try await concurrently(4) { _ in _ = try? await other.query("select pg_sleep(0.2)") }
        await other.close()
        let source = Configuration.DatabaseSource.url(bouncer.url)
        let refusal = await #expect(throws: StartError.self) {
            try await DatabaseSession.open(source, logger: Stage.logger).close()
        }
        #expect(refusal?.description.contains("pool_mode = session") == true, "\(refusal?.description ?? "")")
        let session = try await DatabaseSession.connect(source, logger: Stage.logger)
        await #expect(throws: StartError.self) { try await session.migrate() }
        await session.close()
    }
}
