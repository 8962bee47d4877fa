internal import EmbeddedPostgres
internal import Foundation
internal import GrandstandTestKit
internal import Postgres
internal import Testing

/// A database that accepts no more writes, because it was set to read-only or became a standby.
@Suite(.timeLimit(.minutes(20)))
struct ReadOnlyTests {
    @Test func `readiness and refusals say that the database is read-only, and everything goes on by itself`()
        async throws
    {
        try await Stage.withCluster { cluster, stage in
            // The cluster runs already; this returns its connection string.
            let administration = PostgresPool(
                configuration: .init(connectionString: try await cluster.start()), logger: Stage.logger)
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
            #expect((refused.status, refused.slug) == (503, "store-unavailable"))
            #expect(refused.headers["retry-after"] == "2")
            let detail = refused.json["detail"]?.string ?? refused.text
            #expect(detail.contains("accepts no writes now") && detail.contains("Promote the standby"), "\(detail)")

            try await Self.setReadOnly(false, administration)
            await administration.close()
            try await until("readiness is green again") { try await open("GET", "/readyz").status == 200 }
            let id = try await stage.broadcast(body)
            #expect(try await stage.settled(id).deliveryStates == ["accepted"])
        }
    }

    private static func setReadOnly(_ isReadOnly: Bool, _ pool: PostgresPool) async throws {
        let value = isReadOnly ? "on" : "off"
        try await pool.withConnection { connection in
            try await connection.script("alter system set default_transaction_read_only = \(value)")
            try await connection.script("select pg_reload_conf()")
        }
    }
}
