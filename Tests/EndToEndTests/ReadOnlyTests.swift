internal import EmbeddedPostgres
internal import Foundation
internal import GrandstandStore
internal import GrandstandTestKit
internal import Postgres
internal import Testing

/// A database that accepts no more writes, because it was set to read-only or became a standby.
@Suite(.timeLimit(.minutes(5)))
struct ReadOnlyTests {
    @Test
    func
        `readiness tells it from one that does, what is accepted is lost by neither, and everything goes on by itself`()
        async throws
    {
        let folder = try TemporaryFolder()
        let cluster = PostgresCluster(directory: folder.path + "/database", logger: Stage.logger, durable: false)
        let connection = try await cluster.start()
        let administration = PostgresPool(
            configuration: PostgresConfiguration(connectionString: connection), logger: Stage.logger)
        _ = try await Migrator(administration).migrate()
        do {
            try await Stage.place(settings: ["DATABASE_URL": connection]) { environment, simulator in
                try await Stage.serve(environment, simulator: simulator) { stage in
                    try await stage.putLiveEvent()
                    let open = HTTPCaller(url: stage.url, secret: nil)
                    #expect(try await open("GET", "/readyz").status == 200)

                    try await Self.setReadOnly(true, administration)
                    let answer = try await until("readiness turns red") {
                        let answer = try await open("GET", "/readyz")
                        return answer.status == 503 ? answer : nil
                    }
                    #expect(answer.json["detail"]?.string?.contains("accepts no writes") == true, "\(answer.text)")
                    let body = #"{"event": "update", "contentState": {"n": 1}}"#
                    let refused = try await stage.api("POST", "/v1/events/derby/broadcasts", body)
                    #expect(refused.status == 503)
                    #expect(refused.slug == "store-unavailable")
                    #expect(refused.headers["retry-after"] == "2")
                    let detail = refused.json["detail"]?.string ?? refused.text
                    #expect(detail.contains("accepts no writes now"))
                    #expect(detail.contains("Promote the standby"))

                    try await Self.setReadOnly(false, administration)
                    _ = try await until("readiness is green again") {
                        try await open("GET", "/readyz").status == 200 ? true : nil
                    }
                    let id = try await stage.broadcast(body)
                    #expect(try await stage.settled(id).deliveryStates == ["accepted"])
                }
            }
        } catch {
            await administration.close()
            await cluster.stop()
            throw error
        }
        await administration.close()
        await cluster.stop()
    }

    private static func setReadOnly(_ isReadOnly: Bool, _ pool: PostgresPool) async throws {
        let value = isReadOnly ? "on" : "off"
        try await pool.withConnection { connection in
            try await connection.script("alter system set default_transaction_read_only = \(value)")
            try await connection.script("select pg_reload_conf()")
        }
    }
}
