internal import APNsSimulator
internal import APNsWire
internal import Foundation
internal import Grandstand
internal import GrandstandTestKit
internal import Testing

/// An attacker who has the key that ships in the app, and any amount of time. ScopeTests test which routes the key
/// opens; these tests ask a running server.
@Suite(.timeLimit(.minutes(5)))
struct HostileAppTests {
    /// Makes requests, sixteen at a time.
    ///
    /// - Returns: how many had each status.
    private func statuses(
        of count: Int, _ request: @escaping @Sendable (Int) async throws -> HTTPCaller.Answer
    ) async throws -> [Int: Int] {
        try await withThrowingTaskGroup(of: [Int: Int].self) { group in
            for worker in 0..<16 {
                group.addTask {
                    var statuses: [Int: Int] = [:]
                    for number in stride(from: worker, to: count, by: 16) {
                        statuses[try await request(number).status, default: 0] += 1
                    }
                    return statuses
                }
            }
            return try await group.reduce(into: [:]) { $0.merge($1, uniquingKeysWith: +) }
        }
    }

    @Test func `ten thousand wrong installation secrets give no access, and the owner's phone still gets its start`()
        async throws
    {
        try await Stage.with { stage in
            try await stage.putApp()
            let app = try await stage.appsKey()
            let (owner, other) = (try stage.fan("owner"), try stage.fan("other"))
            for fan in [owner, other] { try await fan.register(app) }
            let known = try await owner.call(app, "GET").text
            let guessed = try await statuses(of: 10_000) { _ in
                try await owner.call(app, "GET", secret: Fan.makeSecret())
            }
            #expect(Set(guessed.keys).isSubset(of: [403, 429]), "\(guessed)")
            #expect(guessed[429, default: 0] > 9_900, "\(guessed)")
            // The limit for the attacked installation does not apply to other installations behind the same IP address.
            #expect(try await other.call(app, "GET").status == 200)
            #expect(known.contains("team:rapid"))
            // Organisers' calls are answered as before.
            #expect(try await stage.api("GET", "/v1/apps").status == 200)
            try await stage.putStartingEvent()
            try await stage.startNow()
            for fan in [owner, other] { try await stage.shows(fan, #"{"home": 0}"#) }
        }
    }

    @Test func `tokens of ten kilobytes and a million topics are refused, in one request and in many`() async throws {
        try await Stage.with { stage in
            try await stage.putApp()
            let app = try await stage.appsKey()
            var stranger = try stage.fan("stranger")
            let long = String(repeating: "ab", count: 10_240)
            stranger.startTokens = [Fan.attributesType: long]
            let refused = try await stranger.registration(app)
            #expect(refused.status == 422)
            #expect(refused.pointers == ["/startTokens/0/token"])
            #expect(!refused.text.contains("abababab"))
            stranger.startTokens = [:]
            try await stranger.register(app)
            try await stage.putStartingEvent()
            let reported = try await stranger.reporting(app, of: "derby", token: long)
            #expect(reported.pointers == ["/updateToken"])
            #expect(!reported.text.contains("abababab"))

            let known = try await stranger.call(app, "GET").text
            stranger.topics = (0..<1_000_000).map { "t\($0)" }
            #expect(try await stranger.registration(app).status == 413)
            stranger.topics = (0..<1_000).map { "t\($0)" }
            #expect(try await stranger.registration(app).pointers == ["/topics"])
            #expect(try await stranger.call(app, "GET").text == known)

            // Many installations each follow the greatest allowed number of topics.
            let made = try await statuses(of: 100) { number in
                let topics = (0..<200).map { "\"t\(number)-\($0)\"" }.joined(separator: ",")
                return try await app(
                    "PUT", "/v1/apps/\(Stage.bundleID)/production/installations/\(UUID())",
                    #"{"systemVersion": "18", "topics": [\#(topics)]}"#,
                    headers: ["Grandstand-Installation-Secret": Fan.makeSecret()])
            }
            #expect(made == [201: 100])
            let page = try await stage.api("GET", "/v1/apps/\(Stage.bundleID)/production/topics?limit=200")
            #expect(page.json["items"]?.items.count == 200)
            #expect(page.json["nextCursor"]?.string != nil)
            let fan = try stage.fan("fan")
            try await fan.register(app)
            try await stage.startNow()
            try await stage.shows(fan, #"{"home": 0}"#)
        }
    }

    @Test func `a hostile app cannot learn other apps' events or fill an event with receipts`() async throws {
        try await Stage.with(settings: ["GRANDSTAND_RECEIPT_SHARE": "1"]) { stage in
            try await stage.putApp()
            try await stage.putApp("com.example.Other")
            let theirs = Stage.audience(.production, .noMessageStored, of: "com.example.Other")
            let put = try await stage.api(
                "PUT", "/v1/events/theirs", #"{"name": "Theirs", "audiences": [\#(theirs)]}"#)
            try #require(put.status == 201, "\(put.text)")
            try await stage.putStartingEvent()
            let app = try await stage.appsKey()
            let stranger = try stage.fan("stranger")
            try await stranger.register(app)
            let now = Int(Date().timeIntervalSince1970)
            var told: [[String?]] = []
            for key in ["theirs", "none"] {
                let activity = try await stranger.reporting(app, of: key)
                let receipts = try await stranger.call(
                    app, "POST", "/receipts",
                    #"{"items": [{"eventKey": "\#(key)", "timestamp": \#(now), "shownAt": "2026-11-21T20:45:00Z"}]}"#)
                told.append([
                    activity.slug, activity.json["detail"]?.string?.replacing(key, with: "…"), receipts.text,
                ])
            }
            #expect(told[0][0] == "event-not-found")
            #expect(told[0] == told[1])
            // Receipts for messages whose timestamps are in the future.
            let items = (0..<100).map {
                #"{"eventKey": "derby", "timestamp": \#(4_000_000_000 + $0), "shownAt": "2026-11-21T20:45:00Z"}"#
            }.joined(separator: ",")
            let filled = try await stranger.call(app, "POST", "/receipts", #"{"items": [\#(items)]}"#)
            #expect(filled.json["recorded"]?.int == 0)
            #expect(filled.json["ignored"]?.int == 100)
        }
    }
}
