internal import APNsSimulator
internal import APNsWire
internal import Foundation
internal import GrandstandTestKit
internal import Testing

/// An attacker who has the key that ships in the app, and any amount of time. ScopeTests test which routes the key
/// opens; these tests ask a running server.
@Suite(.sharedStage, .timeLimit(.minutes(20)))
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
        let stage = try await Stage.own()
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

    @Test func `tokens of four kilobytes and a million topics are refused, in one request and in many`() async throws {
        let stage = try await Stage.own()
        try await stage.putApp()
        let app = try await stage.appsKey()
        var stranger = try stage.fan("stranger")
        let long = String(repeating: "ab", count: 2_000)
        stranger.startTokens = [Fan.attributesType: long]
        let refused = try await stranger.registration(app)
        #expect(refused.status == 422)
        #expect(refused.pointers == ["/startTokens/0/token"])
        #expect(!refused.text.contains("abababab"))
        stranger.startTokens = [:]
        try await stranger.register(app)
        try await stage.putStartingEvent()
        let reported = try await stranger.reporting(app, of: stage.event, token: long)
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
                "PUT", "/v1/apps/\(stage.bundleID)/production/installations/\(UUID())",
                #"{"systemVersion": "18", "topics": [\#(topics)]}"#,
                headers: ["Grandstand-Installation-Secret": Fan.makeSecret()])
        }
        #expect(made == [201: 100])
        let page = try await stage.api("GET", "/v1/apps/\(stage.bundleID)/production/topics?limit=200")
        #expect(page.json["items"]?.items.count == 200)
        #expect(page.json["nextCursor"]?.string != nil)
        let fan = try stage.fan("fan")
        try await fan.register(app)
        try await stage.startNow()
        try await stage.shows(fan, #"{"home": 0}"#)
    }

    @Test func `an installation cannot be read, changed or deleted with another installation's secret`() async throws {
        let stage = try await Stage.own()
        try await stage.putApp()
        let app = try await stage.appsKey()
        let (owner, thief) = (try stage.fan("owner"), try stage.fan("thief"))
        try await owner.register(app)
        try await thief.register(app)
        try await stage.putStartingEvent()
        let known = try await owner.call(app, "GET")
        #expect(known.status == 200)
        let activity = #"{"eventKey": "\#(stage.event)", "attributesType": "Match", "state": "ended"}"#
        let calls: [(method: String, rest: String, body: String?)] = [
            ("PUT", "", #"{"systemVersion": "18", "topics": []}"#), ("GET", "", nil), ("DELETE", "", nil),
            ("PUT", "/activities/1", activity), ("DELETE", "/activities/1", nil),
        ]
        for call in calls {
            let answer = try await owner.call(app, call.method, call.rest, call.body, secret: thief.secret)
            #expect(answer.status == 403, "\(call.method) \(call.rest): \(answer.text)")
            #expect(answer.slug == "wrong-installation-secret", "\(call.method) \(call.rest)")
            #expect(!answer.text.contains("team:rapid"))
            #expect(!answer.text.contains(owner.token ?? "-"))
        }
        // The owner's secret does not open the same installation in the other environment, or with another app's
        // key.
        let elsewhere = try await app(
            "GET", "/v1/apps/\(stage.bundleID)/development/installations/\(owner.installation)",
            headers: ["Grandstand-Installation-Secret": owner.secret])
        #expect(elsewhere.slug == "installation-not-found")
        #expect(try await owner.call(app, "GET").text == known.text)
        try await stage.startNow()
        try await stage.shows(owner, #"{"home": 0}"#)
    }
}
