internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandTestKit
internal import Postgres
internal import Testing

@testable internal import GrandstandStore

/// Triggers write notes for webhook topics, whichever statement changes the rows.
@Suite(.timeLimit(.minutes(1)))
struct WebhookTriggerTests {
    /// The topics of all messages, the oldest first.
    private static func told(_ hooks: Hooks) async throws -> [String] {
        _ = try await hooks.compose()
        return try await hooks.stores.pool.query(
            "select topic::text as topic from webhook_messages order by created_at, topic"
        )
        .map { try $0.decode("topic") }
    }

    @Test func `a capability that goes off is reported once each time`() async throws {
        try await withHooks { hooks in
            let pool = hooks.stores.pool
            try await hooks.stores.open()
            try await hooks.add([.capabilityOff])
            for _ in 0..<2 { try await pool.query("update app_environments set alarm = 'capability-off'") }
            #expect(try await Self.told(hooks).count == 2)
            try await pool.query("update app_environments set alarm = 'list-incomplete'")
            #expect(try await Self.told(hooks).count == 2)
            let app = try AppEnvironment.sample()
            for value in ["on", "off", "off"] {
                try await hooks.stores.quirks.remember(
                    Quirk(
                        environment: .production, name: .broadcastFeature, value: value, learnedAt: hooks.stores.now,
                        evidence: "BroadcastFeatureNotEnabled"), for: app, by: .server)
            }
            #expect(try await Self.told(hooks) == Array(repeating: "capability.off", count: 3))
        }
    }

    @Test func `a replaced channel is reported, and a first channel is not`() async throws {
        try await withHooks { hooks in
            let stores = hooks.stores
            try await hooks.add([.channelMissing, .channelReplaced])
            try await stores.open()
            #expect(try await Self.told(hooks).isEmpty)
            try await stores.pool.query("update channels set state = 'missing', changed_at = \(stores.now)")
            stores.clock.advance(by: 1)
            try await stores.provision()
            #expect(try await Self.told(hooks) == ["channel.missing", "channel.replaced"])
            stores.clock.advance(by: 1)
            try await stores.put(.sample(audiences: [.sample("com.example.Goal", .production, .noMessageStored)]))
            stores.clock.advance(by: 1)
            try await stores.provision()
            #expect(try await Self.told(hooks).last == "channel.replaced")
            #expect(try await Self.told(hooks).count == 3)
        }
    }

    @Test func `a withdrawn broadcast is reported as settled, too`() async throws {
        try await withHooks { hooks in
            let stores = hooks.stores
            try await hooks.add([.broadcastSettled])
            try await stores.open()
            let broadcast = try await stores.accept(.update(sendAt: stores.now.addingTimeInterval(60)))
            #expect(try await hooks.compose() == 0)
            #expect(try await stores.outbox.cancel(broadcast.id, now: stores.now) == true)
            #expect(try await hooks.compose() == 1)
            #expect(try await Self.told(hooks) == ["broadcast.settled"])
        }
    }

    @Test func `a quota level is reported once by one of several replicas`() async throws {
        try await withHooks { hooks in
            let stores = hooks.stores
            let levels = PostgresQuotaLevels(Database(stores.pool))
            _ = try await stores.apps.put(.sample(channelLimit: 1))
            #expect(try await !levels.areWatched())
            try await hooks.add([.quotaLevel])
            #expect(try await levels.areWatched())
            func note() async throws {
                let quotas = try await stores.channels.quotas(now: stores.now, tenure: Stores.tenure)
                try await withThrowingTaskGroup { group in
                    for _ in 0..<4 { group.addTask { try await levels.note(quotas, now: stores.now) } }
                    try await group.waitForAll()
                }
            }
            try await note()
            #expect(try await Self.told(hooks).isEmpty)
            try await stores.open()
            try await note()
            #expect(try await Self.told(hooks) == ["quota.level"])
            let body = String(decoding: try #require(try await hooks.claim().first).body, as: UTF8.self)
            #expect(body.contains(#""level":"critical","previousLevel":"ok""#))
        }
    }

    @Test func `a webhook of one app is told of events that belong only to it now`() async throws {
        try await withHooks { hooks in
            let stores = hooks.stores
            try await stores.open(audiences: [.sample("com.example.A"), .sample("com.example.B")])
            let own = try await hooks.add([.broadcastSettled], app: "com.example.A")
            let all = try await hooks.add([.broadcastSettled])
            let pair = try await hooks.add([.broadcastSettled], apps: ["com.example.A", "com.example.B"])
            /// How many messages wait for each of the three webhooks after this broadcast is settled.
            func told(_ request: BroadcastRequest) async throws -> [Int] {
                try await stores.accept(request)
                for delivery in try await stores.claim() { try await stores.settle(delivery, .ok) }
                _ = try await hooks.compose()
                stores.clock.advance(by: 1)
                let messages = try await hooks.claim()
                return [own, all, pair].map { webhook in messages.count { $0.webhook == webhook.id } }
            }
            // The webhook is for A only, but the event also belongs to B.
            #expect(try await told(.update(audiences: [.sample("com.example.A")])) == [0, 1, 1])
            #expect(try await told(.update()) == [0, 1, 1])
            try await stores.put(.sample(audiences: [.sample("com.example.A")]))
            #expect(try await told(.update()) == [1, 1, 1])
        }
    }

    @Test func `a message about several apps goes to webhooks of all of them and to those without apps`() async throws {
        try await withHooks { hooks in
            let stores = hooks.stores
            for app in ["com.example.A", "com.example.B"] { _ = try await stores.apps.put(.sample(app)) }
            try await hooks.add([.channelMissing], app: "com.example.A")
            let pair = try await hooks.add([.channelMissing], apps: ["com.example.A", "com.example.B"])
            let all = try await hooks.add([.channelMissing])
            try await stores.pool.query(
                """
                select note_for_webhooks('channel.missing', now(), array['com.example.A', 'com.example.B'],
                    detail => '{}'::json)
                """)
            let told = try await stores.pool.query("select webhooks from webhook_notes").first
            let webhooks: [UUID] = try #require(try told?.decode("webhooks"))
            #expect(Set(webhooks) == [pair.id, all.id])
        }
    }
}
