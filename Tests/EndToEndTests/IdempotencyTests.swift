internal import APNsSimulator
internal import Foundation
internal import Testing

/// `Idempotency-Key` from outside: in parallel, over replicas, through a crash.
@Suite(.timeLimit(.minutes(20)))
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
