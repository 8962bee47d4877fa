internal import APNsSimulator
internal import Foundation
internal import Grandstand
internal import GrandstandApp
internal import MatchDriver
internal import Testing

/// `Idempotency-Key` from outside: in parallel, over replicas, through a crash.
@Suite(.timeLimit(.minutes(5)))
struct IdempotencyTests {
    private static let update = #"{"event": "update", "contentState": {"home": 1}}"#
    private static let path = "/v1/events/derby/broadcasts"

    /// Makes the same request `count` times at once, spread over all callers.
    private func repeated(
        _ count: Int, _ callers: [HTTPCaller], _ path: String, _ body: String, key: String
    ) async throws -> [HTTPCaller.Answer] {
        try await withThrowingTaskGroup { group in
            for n in 0..<count {
                let caller = callers[n % callers.count]
                group.addTask { try await caller("POST", path, body, headers: ["Idempotency-Key": key]) }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
    }

    @Test func `twenty simultaneous requests with one idempotency key through two replicas make one broadcast`()
        async throws
    {
        try await Stage.place { environment, simulator in
            try await Stage.serve(environment, simulator: simulator) { one in
                try await one.putLiveEvent()
                try await Stage.serve(environment, simulator: simulator) { two in
                    let other = HTTPCaller(url: two.url, secret: one.api.secret)
                    let answers = try await repeated(20, [one.api, other], Self.path, Self.update, key: "goal-1")
                    #expect(Set(answers.map(\.status)) == [202])
                    #expect(Set(answers.map(\.body)).count == 1)
                    let firsts = answers.count { $0.headers["idempotent-replayed"] == nil }
                    #expect(firsts == 1)
                    #expect(try await one.api("GET", Self.path).json["items"]?.items.count == 1)
                }
            }
        }
    }

    @Test func `an idempotency key is refused with another body, and separate for another caller`() async throws {
        try await Stage.with { stage in
            try await stage.putLiveEvent()
            let headers = ["Idempotency-Key": "goal-1"]
            let first = try await stage.api("POST", Self.path, Self.update, headers: headers)
            #expect(first.status == 202)
            let mismatch = try await stage.api(
                "POST", Self.path, #"{"event": "update", "contentState": {"home": 2}}"#, headers: headers)
            #expect(mismatch.status == 422)
            #expect(mismatch.slug == "idempotency-mismatch")
            let caller = try await stage.caller([.organise])
            let own = try await caller("POST", Self.path, Self.update, headers: headers)
            #expect(own.status == 202)
            #expect(own.json["id"] != first.json["id"])
        }
    }

    @Test func `a refused request is carried out when it is repeated after its cause is gone`() async throws {
        try await Stage.with { stage in
            try await stage.putApp()
            func post(_ key: String, _ body: String = Self.update, to path: String = Self.path) async throws
                -> HTTPCaller.Answer
            {
                try await stage.api("POST", path, body, headers: ["Idempotency-Key": key])
            }
            let batch = #"{"items": [{"eventKey": "derby", "event": "update", "contentState": {}}]}"#
            let missing = try await post("early")
            #expect((missing.status, missing.slug) == (404, "event-not-found"))
            let missed = try await post("batch", batch, to: "/v1/broadcasts")
            #expect(missed.json["items"]?[0]?["problem"]?["status"]?.int == 404, "\(missed.text)")
            try await stage.putEvent("derby")
            for _ in 1...2 {
                #expect(try await post("early").status == 202)
                let batch = try await post("batch", batch, to: "/v1/broadcasts")
                #expect(batch.json["items"]?[0]?["id"] != nil, "\(batch.text)")
            }
            #expect(try await post("early").headers["idempotent-replayed"] == "true")

            #expect(try await post("end", #"{"event": "end"}"#).status == 202)
            let over = try await post("late")
            #expect((over.status, over.slug) == (409, "event-ended"))
            #expect(over.json["detail"]?.string?.contains("/v1/events/derby/reopen") == true, "\(over.text)")
            #expect(try await stage.api("POST", "/v1/events/derby/reopen").status == 200)
            #expect(try await post("late").status == 202)
        }
    }

    @Test func `a repeated creation of an API key makes one key and returns the same secret`() async throws {
        try await Stage.with { stage in
            let body = #"{"name": "organiser", "scopes": ["organise"]}"#
            let answers = try await repeated(5, [stage.api], "/v1/keys", body, key: "key-1")
            #expect(Set(answers.map { $0.json["secret"]?.string }).count == 1)
            let names = try await stage.api("GET", "/v1/keys").json["items"]?.items.compactMap { $0["name"]?.string }
            let made = (names ?? []).count { $0 == "organiser" }
            #expect(made == 1)
        }
    }

    @Test func `parallel channel creations with one idempotency key make one channel at Apple`() async throws {
        try await Stage.with { stage in
            try await stage.putApp()
            let path = "/v1/apps/\(Stage.bundleID)/development/channels"
            let answers = try await repeated(
                8, [stage.api], path, #"{"storagePolicy": "noMessageStored"}"#, key: "channel-1")
            #expect(Set(answers.map(\.status)) == [201])
            #expect(Set(answers.map { $0.json["id"]?.string }).count == 1)
            #expect(stage.atApple().count == 1)
        }
    }

    @Test func `after a crash a repeated request gets the first answer or is carried out then`() async throws {
        try await Stage.place { environment, simulator in
            var secret: String?
            try await Stage.serve(environment, simulator: simulator) { stage in
                try await stage.putLiveEvent()
                secret = stage.api.secret
            }
            let victim = try await ServerProcess.start(environment)
            let caller = HTTPCaller(url: victim.url, secret: secret)
            // The server is killed while requests are anywhere between arrival and answer.
            await withTaskGroup(of: Void.self) { group in
                for n in 0..<30 {
                    group.addTask {
                        _ = try? await caller(
                            "POST", Self.path, Self.update, headers: ["Idempotency-Key": "goal-\(n)"])
                    }
                }
                await group.next()
                await victim.kill()
            }
            try await Stage.serve(environment, simulator: simulator) { stage in
                let caller = HTTPCaller(url: stage.url, secret: secret)
                for n in 0..<30 {
                    let answer = try await caller(
                        "POST", Self.path, Self.update, headers: ["Idempotency-Key": "goal-\(n)"])
                    #expect(answer.status == 202)
                }
                let page = try await caller("GET", Self.path + "?limit=200")
                #expect(page.json["items"]?.items.count == 30)
            }
        }
    }
}
