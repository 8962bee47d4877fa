internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandTestKit
internal import Postgres
internal import Testing

@testable internal import GrandstandStore

/// The alarm `tokens-refused`, as it follows from what is counted.
@Suite(.timeLimit(.minutes(1)))
struct TokenAlarmTests {
    @Test func `refusals raise it at once, few do not`() async throws {
        try await withAnswers { world in
            try await world.count(suspect: 19)
            #expect(try await world.refused() == nil)
            try await world.count(accepted: 5, suspect: 1, reason: "DeviceTokenNotForTopic", at: 59)
            let refused = try #require(try await world.refused(at: 59))
            #expect(
                refused
                    == TokensRefused(
                        app: try .sample(), reason: "DeviceTokenNotForTopic", refused: 20, answers: 25,
                        since: world.start))
            // Whatever is counted from then on is in it.
            try await world.count(suspect: 3, at: 70)
            #expect(try await world.refused(at: 70)?.refused == 23)
            #expect(try await world.refused(at: 70)?.reason == "BadDeviceToken")
            #expect(try await world.alarms(at: 70) == [.production: .tokensRefused])
        }
    }

    @Test func `a tenth of all is needed`() async throws {
        try await withAnswers { world in
            try await world.count(accepted: 1_000)
            try await world.count(suspect: 111, at: 60)
            #expect(try await world.refused(at: 60) == nil)
            try await world.count(suspect: 1, at: 60)
            #expect(try await world.refused(at: 60)?.answers == 112)
        }
    }

    @Test func `later acceptances end it, refusals among them put that off`() async throws {
        try await withAnswers { world in
            try await world.count(suspect: 500)
            try await world.count(accepted: 10, suspect: 20, at: 10)
            try await world.count(accepted: 10, suspect: 2, at: 20)
            #expect(try await world.refused(at: 20)?.refused == 522)
            try await world.count(accepted: 10, at: 30)
            #expect(try await world.refused(at: 30) == nil)
            // The same refusals do not raise it again.
            try await world.count(suspect: 1, at: 40)
            #expect(try await world.refused(at: 40) == nil)
            try await world.count(suspect: 20, at: 120)
            #expect(try await world.refused(at: 120)?.since == world.start)
            #expect(try await world.told().count == 2)
        }
    }

    @Test func `it ends after a day, and is raised and told of again if it goes on`() async throws {
        try await withAnswers { world in
            try await world.count(suspect: 20)
            #expect(try await world.refused(at: 86_399) != nil)
            #expect(try await world.refused(at: 86_400) == nil)
            try await world.count(suspect: 20, at: 86_400)
            #expect(try await world.refused(at: 86_400)?.answers == 20)
            #expect(try await world.told().count == 2)
        }
    }

    @Test func `webhooks are told of it once, with its cause and what to do`() async throws {
        try await withAnswers { world in
            for second in 0..<4 { try await world.count(accepted: 5, suspect: 20, at: Double(second)) }
            let told = try await world.told()
            #expect(told.count == 1)
            let body = try #require(told.first)
            for part in [
                #""type":"tokens.refused""#, #""bundleId":"com.example.Goal","environment":"production""#,
                #""reason":"BadDeviceToken","refused":20,"answers":25,"since":"\#(RFC3339.text(world.start))""#,
                #""cause":"tokens of builds that are signed for development"#, #""remedy":"have the app register"#,
            ] { #expect(body.contains(part), "\(body)") }
        }
    }

    @Test func `of transactions that count at once, one raises it`() async throws {
        try await withAnswers { world in
            try await withThrowingTaskGroup { group in
                for place in 0..<16 {
                    // In two minutes, so that they meet in different rows.
                    group.addTask { try await world.count(suspect: 30, at: place.isMultiple(of: 2) ? 59 : 61) }
                }
                try await group.waitForAll()
            }
            #expect(try await world.refused(at: 61) != nil)
            #expect(try await world.told().count == 1)
        }
    }

    @Test func `a shard of a start raises it with its answers`() async throws {
        try await withStarts { world in
            try await world.open()
            for _ in 0..<20 { try await world.follow() }
            let shard = try #require(try await world.claim().first)
            world.stores.clock.advance(by: 1)
            try await world.settle(shard) { _ in .suspect(reason: "BadDeviceToken") }
            let quotas = try await world.stores.channels.quotas(now: world.now, tenure: Stores.tenure)
            #expect(quotas.map(\.alarm) == [nil, .tokensRefused])
            #expect(quotas.last?.tokensRefused?.refused == 20)
            #expect(try await world.counts().rejected == 20)
        }
    }

    @Test func `a shard of a crowd raises it with its answers`() async throws {
        try await withStores { stores in
            try await stores.apps.put(.sample())
            let address = try #require(try await stores.channels.address(of: .sample(), in: .production))
            let token = try #require(DeviceToken(hex: "ab"))
            let members = (1...20).map { CrowdShard.Member(activity: $0, token: token) }
            let shard = CrowdShard(
                delivery: nil, lane: 1, address: address, requestID: UUID(), body: [], priority: .immediate,
                expiration: 0, attempts: 1,
                number: 0, expiresAt: stores.now, members: members, cursor: nil, isLast: true)
            let crowds = PostgresCrowdStore(Database(stores.pool), intervals: .init(frequent: 0, infrequent: 60))
            try await crowds.settle(
                shard,
                members.map {
                    PushOutcome(member: $0, sentAt: stores.now, verdict: .suspect(reason: "DeviceTokenNotForTopic"))
                }, replica: stores.replica, now: stores.now)
            let quotas = try await stores.channels.quotas(now: stores.now, tenure: Stores.tenure)
            #expect(quotas.map(\.tokensRefused?.reason) == [nil, "DeviceTokenNotForTopic"])
        }
    }

    @Test func `old minutes and alarms are forgotten in steps`() async throws {
        try await withAnswers { world in
            for minute in 0..<5 { try await world.count(suspect: 20, at: Double(minute) * 60) }
            let history = PostgresTokenAnswers(Database(world.hooks.stores.pool))
            func left() async throws -> [Int] {
                [
                    try await world.hooks.stores.count("select count(*) as n from token_answers"),
                    try await world.hooks.stores.count("select count(*) as n from token_alarms"),
                ]
            }
            #expect(try await history.prune(before: world.start, limit: 10) == 0)
            #expect(try await left() == [5, 1])
            #expect(try await history.prune(before: world.start.addingTimeInterval(180), limit: 2) == 2)
            #expect(try await history.prune(before: world.start.addingTimeInterval(180), limit: 2) == 1)
            #expect(try await left() == [2, 0])
        }
    }
}

/// Answers about tokens of the sample app in production, counted as a settlement counts them.
private struct AnswerWorld: Sendable {
    let hooks: Hooks
    let app: Int
    /// The start of a minute.
    let start: Date

    func count(
        accepted: Int = 0, suspect: Int = 0, reason: String = "BadDeviceToken", at seconds: TimeInterval = 0
    ) async throws {
        let now = start.addingTimeInterval(seconds)
        let token = try #require(DeviceToken(hex: "ab"))
        let verdicts =
            Array(repeating: TokenVerdict.accepted, count: accepted)
            + Array(repeating: TokenVerdict.suspect(reason: reason), count: suspect)
        let care = TokenCare(
            verdicts.enumerated().map {
                TokenCare.Answer(owner: $0.offset, token: token, sentAt: now, verdict: $0.element)
            })
        try await Database(hooks.stores.pool).transaction { connection in
            try await care.count(of: app, now: now, after: [], on: connection)
        }
    }

    private func quotas(at seconds: TimeInterval) async throws -> [Quota] {
        try await hooks.stores.channels.quotas(now: start.addingTimeInterval(seconds), tenure: Stores.tenure)
    }

    func refused(at seconds: TimeInterval = 0) async throws -> TokensRefused? {
        try await quotas(at: seconds).first { $0.environment == .production }?.tokensRefused
    }

    func alarms(at seconds: TimeInterval) async throws -> [APNsEnvironment: Quota.Alarm] {
        Dictionary(
            uniqueKeysWithValues: try await quotas(at: seconds).compactMap { quota in
                quota.alarm.map { (quota.environment, $0) }
            })
    }

    /// The messages there are, in order.
    func told() async throws -> [String] {
        _ = try await hooks.compose()
        return try await hooks.stores.pool.query("select body from webhook_messages order by created_at, id")
            .map { try $0.decode("body") }
    }
}

private func withAnswers(_ body: (AnswerWorld) async throws -> Void) async throws {
    try await withHooks { hooks in
        try await hooks.stores.apps.put(.sample())
        try await hooks.add([.tokensRefused])
        let row = try await hooks.stores.pool.query(
            "select id from app_environments where bundle_id = 'com.example.Goal' and environment = 'production'"
        ).first
        try await body(
            AnswerWorld(
                hooks: hooks, app: try #require(row).decode("id"), start: TokenAnswers.minute(of: hooks.stores.now)))
    }
}
