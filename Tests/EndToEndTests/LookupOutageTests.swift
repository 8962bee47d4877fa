internal import EmbeddedPostgres
internal import Foundation
internal import Grandstand
internal import GrandstandStore
internal import GrandstandTestKit
internal import Postgres
internal import Testing

/// PostgreSQL goes away and comes back under a server that answers lookups.
@Suite(.timeLimit(.minutes(5)))
struct LookupOutageTests {
    private static let path = "/v1/lookup/com.example.Stadium/development/derby"
    private static let batch = "/v1/lookup/com.example.Stadium/development"

    @Test func `lookups get old answers with an Age field during an outage, and changes are known soon after it`()
        async throws
    {
        try await withCluster(settings: [:]) { cluster, stage, phone in
            // A machine that is busy with other tests may lag behind the database for a while.
            let before = try await until("an answer is not old") {
                let answer = try await phone("GET", Self.path)
                return answer.headers["warning"] == nil ? answer : nil
            }
            #expect(before.status == 200)
            #expect(before.headers["age"] == nil)
            let tag = try #require(before.headers["etag"])

            // If something changed just before the stop, the server would know that its answer is outdated, and would
            // not give it.
            var same = 0
            try await until("nothing changes any more") {
                let answer = try await phone("GET", Self.path)
                same = answer.headers["etag"] == tag && answer.headers["warning"] == nil ? same + 1 : 0
                return same > 50
            }
            await cluster.stop()
            let stale = try await until("an answer says that it is old") {
                let answer = try await phone("GET", Self.path)
                try #require(answer.status == 200, "\(answer.text)")
                return answer.headers["warning"] == nil ? nil : answer
            }
            #expect(stale.body == before.body)
            #expect(stale.headers["warning"]?.hasPrefix("110 ") == true)
            #expect(try #require(stale.headers["age"].flatMap { Int($0) }) >= 2)
            let known = try await phone("GET", Self.path, headers: ["If-None-Match": tag])
            #expect(known.status == 304)
            #expect(known.headers["age"] != nil)
            let many = try await phone("POST", Self.batch, #"{"eventKeys": ["derby", "cup"]}"#)
            #expect(many.status == 200, "\(many.text)")
            #expect(many.json["items"]?.items.count == 1)
            #expect(many.json["missing"]?.items.map { $0["reason"]?.string } == ["store-unavailable"])
            #expect(many.headers["warning"] != nil)
            // The server cannot tell whether this event exists.
            let unknown = try await phone("GET", Self.path + "-2")
            #expect(unknown.status == 503 && unknown.slug == "store-unavailable")
            #expect(unknown.headers["retry-after"] != nil)
            // The server cannot tell whether this key is wrong.
            let stranger = try await HTTPCaller(url: stage.url, secret: "gs_never_seen")("GET", Self.path)
            #expect(stranger.status == 503)

            let connection = try await cluster.start()
            let pool = PostgresPool(configuration: .stores(connectionString: connection), logger: Stage.logger)
            try await pool.query("update events set ended_at = now()")
            await pool.close()
            try await until("the change is known") { try await phone("GET", Self.path).status == 410 ? () : nil }
            let fresh = try await until("the answers are of now") {
                let answer = try await phone("GET", Self.path)
                return answer.headers["warning"] == nil ? answer : nil
            }
            #expect(fresh.status == 410)
        }
    }

    @Test func `a lookup answer older than the configured time is replaced by 503 with advice`() async throws {
        try await withCluster(settings: ["GRANDSTAND_LOOKUP_STALE_SECONDS": "1"]) { cluster, _, phone in
            #expect(try await phone("GET", Self.path).status == 200)
            await cluster.stop()
            let refusal = try await until("nothing can be believed any more") {
                let answer = try await phone("GET", Self.path)
                return answer.status == 503 ? answer : nil
            }
            #expect(refusal.slug == "store-unavailable")
            #expect(refusal.headers["retry-after"] != nil)
            #expect(refusal.json["detail"]?.string?.contains("try again") == true)
            _ = try await cluster.start()
            try await until("it answers again") { try await phone("GET", Self.path).status == 200 ? () : nil }
        }
    }

    /// Runs `body` with a cluster of its own, a server with an event that has a channel, and a caller with a key for
    /// lookups.
    private func withCluster(
        settings: [String: String], _ body: (PostgresCluster, Stage, HTTPCaller) async throws -> Void
    ) async throws {
        let folder = try TemporaryFolder()
        let cluster = PostgresCluster(directory: folder.path, logger: Stage.logger, durable: false)
        let connection = try await cluster.start()
        let pool = PostgresPool(configuration: .stores(connectionString: connection), logger: Stage.logger)
        _ = try await Migrator(pool).migrate()
        await pool.close()
        let settings = settings.merging(["DATABASE_URL": connection]) { $1 }
        do {
            try await Stage.place(settings: settings) { environment, simulator in
                try await Stage.serve(environment, simulator: simulator) { stage in
                    try await stage.putLiveEvent()
                    try await body(cluster, stage, try await stage.caller([.lookup], app: Stage.bundleID))
                }
            }
            await cluster.stop()
        } catch {
            await cluster.stop()
            throw error
        }
    }
}
