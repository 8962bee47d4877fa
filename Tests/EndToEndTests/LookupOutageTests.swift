internal import EmbeddedPostgres
internal import Foundation
internal import Grandstand
internal import GrandstandTestKit
internal import Postgres
internal import Testing

/// PostgreSQL goes away and comes back under a server that answers lookups.
@Suite(.timeLimit(.minutes(20)))
struct LookupOutageTests {
    private static let path = "/v1/lookup/com.example.Stadium/development/derby"
    private static let batch = "/v1/lookup/com.example.Stadium/development"

    @Test func `lookups get old answers with an Age field during an outage, and changes are known soon after it`()
        async throws
    {
        try await Stage.onCluster { cluster, environment, simulator in
            try await Stage.serve(environment, simulator: simulator) { stage in
                try await Self.outage(of: cluster, stage)
            }
        }
    }

    private static func outage(of cluster: PostgresCluster, _ stage: Stage) async throws {
        try await stage.putLiveEvent()
        let phone = try await stage.caller([.lookup], app: Stage.bundleID)
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
        try await PostgresCluster.withPool(connection) { try await $0.query("update events set ended_at = now()") }
        try await until("the change is known, and the answers are of now") {
            let answer = try await phone("GET", Self.path)
            return answer.status == 410 && answer.headers["warning"] == nil
        }
    }
}
