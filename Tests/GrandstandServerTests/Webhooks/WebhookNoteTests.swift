internal import APNsWire
internal import Foundation
internal import Grandstand
internal import GrandstandTestKit
internal import JSON
internal import Postgres
internal import Testing

@testable internal import GrandstandServer

/// The notes that transactions write about changes, and the messages that are made of them.
@Suite(.timeLimit(.minutes(20)))
struct WebhookNoteTests {
    private static func bodies(_ hooks: Hooks) async throws -> [String] {
        try await hooks.claim().map { String(decoding: $0.body, as: UTF8.self) }.sorted()
    }

    /// Creates a channel and marks it as missing. A trigger writes a note of it.
    private static func lose(_ hooks: Hooks, reason: String = "gone") async throws {
        try await hooks.stores.open()
        try await hooks.stores.pool.query(
            "update channels set state = 'missing', reason = \(reason), changed_at = \(hooks.stores.now)")
    }

    @Test func `a message has the facts as they were at the event`() async throws {
        try await withHooks { hooks in
            let stores = hooks.stores
            try await hooks.add([.channelMissing, .channelReplaced])
            try await Self.lose(hooks)
            let lost: String = try #require(
                try await stores.pool.query("select channel_id from channels where state = 'missing'").first
            ).decode("channel_id")
            stores.clock.advance(by: 1)
            try await stores.provision()
            try await stores.pool.query("update channels set reason = 'later', label = 'later'")
            try await stores.pool.query("update channels set channel_id = null where state = 'deleted'")
            #expect(try await hooks.compose() == 2)
            let told = try await Self.bodies(hooks)
            try #require(told.count == 2)
            #expect(told[0].contains(#""type":"channel.missing""#) && told[0].contains(#""reason":"gone""#))
            #expect(told[0].contains(#""channelId":"\#(lost)""#))
            #expect(told[1].contains(#""type":"channel.replaced""#))
            #expect(told[1].contains(#""channelId":"\#(lost)"}}"#))
        }
    }

    @Test func `only webhooks that were subscribed at the event are told`() async throws {
        try await withHooks { hooks in
            let early = try await hooks.add([.channelMissing])
            try await Self.lose(hooks)
            let late = try await hooks.add([.channelMissing])
            var draft = early.draft
            draft.isEnabled = false
            _ = try await hooks.webhooks.replace(early.id, with: draft, by: .server, if: .none, now: hooks.stores.now)
            #expect(try await hooks.compose() == 1)
            func told(_ webhook: Webhook) async throws -> [WebhookDelivery.State] {
                try await hooks.webhooks.deliveries(of: webhook.id, where: .init(), PageRequest()).items.map(\.state)
            }
            #expect(try await told(early) == [.queued])
            #expect(try await told(late).isEmpty)
        }
    }

    @Test func `a process that dies while it writes messages loses none`() async throws {
        try await withHooks { hooks in
            try await hooks.add([.channelMissing])
            try await Self.lose(hooks)
            struct Died: Error {}
            let database = Database(hooks.stores.pool)
            await #expect(throws: Died.self) {
                try await hooks.stores.pool.transaction { connection in
                    try await database.joining(connection, Database.Commit()) {
                        _ = try await hooks.compose()
                        throw Died()
                    }
                }
            }
            #expect(try await hooks.claim().isEmpty)
            #expect(try await hooks.compose() == 1)
            #expect(try await hooks.claim().count == 1)
        }
    }

    @Test func `several processes make only one webhook message from each recorded event`() async throws {
        try await withHooks { hooks in
            try await hooks.add([.channelMissing])
            try await hooks.stores.open(audiences: [.sample("com.example.A"), .sample("com.example.B")])
            for _ in 0..<5 {
                try await hooks.stores.pool.query("update channels set state = 'missing'")
                try await hooks.stores.pool.query("update channels set state = 'active'")
            }
            let looked = try await concurrently(4) { _ in try await hooks.compose() }
            #expect(looked.reduce(0, +) == 10)
            #expect(try await hooks.claim().count == 10)
        }
    }

    @Test func `a recorded event with a topic of a newer version is left for that version`() async throws {
        try await withHooks(.own) { hooks in
            let pool = hooks.stores.pool
            try await pool.query("alter type webhook_topic add value 'channel.moved'")
            try await pool.query(
                """
                insert into webhook_notes (topic, at, webhooks, detail)
                values ('channel.moved', \(hooks.stores.now), '{}', '{}')
                """)
            #expect(try await hooks.compose() == 0)
            #expect(try await hooks.stores.rows("webhook_notes") == 1)
        }
    }
}

/// Triggers write notes for webhook topics, whichever statement changes the rows.
@Suite(.timeLimit(.minutes(20)))
struct WebhookTriggerTests {
    @Test func `who ended, cancelled or reopened an event is told once, also if the end was scheduled before`()
        async throws
    {
        try await withHooks { hooks in
            let stores = hooks.stores
            try await hooks.add([.eventState])
            let key = try await stores.open()
            let (desk, night) = (AuditActor.key(id: UUID(), name: "desk"), AuditActor.key(id: UUID(), name: "night"))
            func told() async throws -> [String] {
                _ = try await hooks.compose()
                return try await stores.pool.query("delete from webhook_messages returning body").map {
                    try $0.decode("body")
                }
            }
            func data(_ state: String, by actor: String) -> String {
                #""data":{"eventKey":"\#(key)","state":"\#(state)","by":"key:\#(actor)"}}"#
            }
            try await stores.accept(.update())
            #expect(try await told().isEmpty)
            try await stores.events.cancel(key, sendingEnd: true, within: .all, by: desk, if: .none, now: stores.now)
            let cancelled = try await told()
            #expect(cancelled.count == 1 && cancelled.first?.hasSuffix(data("cancelled", by: "desk")) == true)
            _ = try await stores.events.reopen(key, audiences: nil, within: .all, by: night, now: stores.now)
            let reopened = try await told()
            #expect(reopened.count == 1 && reopened.first?.hasSuffix(data("live", by: "night")) == true)
            let end = BroadcastRequest(
                payload: BroadcastPayload(event: .end), sendAt: stores.now.addingTimeInterval(60))
            _ = try await stores.accept([BroadcastIntake(.event(key), request: end, by: desk)])[0].get()
            _ = try await stores.accept([BroadcastIntake(.event(key), request: .update(), by: night)])[0].get()
            stores.clock.advance(by: 60)
            try await stores.promote()
            let ended = try await told()
            #expect(ended.count == 1 && ended.first?.hasSuffix(data("ended", by: "desk")) == true)
        }
    }

    @Test func `a capability that goes off is reported once each time`() async throws {
        try await withHooks { hooks in
            let pool = hooks.stores.pool
            try await hooks.stores.open()
            try await hooks.add([.capabilityOff])
            for _ in 0..<2 { try await pool.query("update app_environments set alarm = 'capability-off'") }
            #expect(try await hooks.told().count == 2)
            try await pool.query("update app_environments set alarm = 'list-incomplete'")
            #expect(try await hooks.told().count == 2)
            let app = try AppEnvironment.sample()
            for value in ["on", "off", "off"] {
                try await hooks.stores.apps.remember(
                    Quirk(
                        environment: .production, name: .broadcastFeature, value: value, learnedAt: hooks.stores.now,
                        evidence: "BroadcastFeatureNotEnabled"), for: app)
            }
            #expect(try await hooks.told() == Array(repeating: "capability.off", count: 3))
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
                let quotas = try await stores.quotas()
                _ = try await concurrently(4) { _ in try await levels.note(quotas, now: stores.now) }
            }
            try await note()
            #expect(try await hooks.told().isEmpty)
            try await stores.open()
            try await note()
            #expect(try await hooks.told() == ["quota.level"])
            let body = String(decoding: try #require(try await hooks.claim().first).body, as: UTF8.self)
            #expect(body.contains(#""level":"critical","previousLevel":"ok""#))
        }
    }

    @Test func `the watch reports a quota that becomes full`() async throws {
        try await withHooks { hooks in
            let stores = hooks.stores
            _ = try await stores.apps.put(.sample(channelLimit: 1))
            try await hooks.add([.quotaLevel])
            try await stores.open()
            let watch = QuotaWatch(
                channels: stores.channels, levels: PostgresQuotaLevels(Database(stores.pool)), signals: Silence(),
                settings: .init(tenure: ChannelTenure()), now: { stores.now }, logger: TestLog.logger("quotas"))
            let running = Task { await watch.run() }
            try await until("the level is reported") { try await hooks.told() == ["quota.level"] }
            running.cancel()
            await running.value
        }
    }

    @Test func `a reconciliation that found something is reported when it is finished`() async throws {
        try await withHooks { hooks in
            let stores = hooks.stores
            try await stores.open()
            try await hooks.add([.reconciliationFound])
            let run = try await stores.reconciliations.begin(
                .sample(), now: stores.now, leasedUntil: stores.now.addingTimeInterval(10))
            #expect(try await hooks.told().isEmpty)
            let report = ReconciliationReport(
                id: UUID(), bundleID: run.address.bundleID, environment: run.address.environment, actor: "test",
                startedAt: run.startedAt, finishedAt: stores.now, applied: false, apple: 0, ledger: 0, matched: 0,
                missing: [], unmanaged: [], actions: [], alarm: .listIncomplete, notes: [])
            try await stores.reconciliations.finish(run, report, again: nil, now: stores.now)
            #expect(try await hooks.told() == ["reconciliation.found"])
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

/// Which key declared a webhook, who may change the webhook, and what happens to it when this key is revoked.
struct WebhookDeclarationTests {
    private static func key(_ hooks: Hooks, of app: BundleID? = nil) async throws -> APIKey {
        try await hooks.stores.keys.create(name: "k", scopes: [.organise], bundleID: app).key
    }

    private static func draft(_ host: String = "example.com", _ reach: AppReach = .all) throws -> WebhookDraft {
        WebhookDraft(
            url: try #require(WebhookURL(rawValue: "https://\(host)/hooks")), topics: [.broadcastSettled], reach: reach)
    }

    private static func create(_ hooks: Hooks, by key: APIKey, _ reach: AppReach = .all) async throws -> Webhook {
        try await hooks.webhooks.create(
            try draft("example.com", reach), by: AuditActor(key), now: hooks.stores.now
        ).webhook
    }

    private static func declared(_ hooks: Hooks, by key: APIKey) async throws -> [UUID] {
        try await hooks.webhooks.webhooks(where: WebhookFilter(declaredBy: key.id), PageRequest(limit: 10)).items.map(
            \.id)
    }

    @Test func `a webhook belongs to its declaring key until another key changes its URL or content`() async throws {
        try await withHooks { hooks in
            let (first, second) = (try await Self.key(hooks), try await Self.key(hooks))
            let webhook = try await Self.create(hooks, by: first)
            #expect(webhook.declaredBy == first.id)
            var paused = try Self.draft()
            (paused.description, paused.isEnabled) = ("paused by a colleague", false)
            for (draft, owner) in [(paused, first), (try Self.draft("other.example"), second)] {
                let replaced = try await hooks.webhooks.replace(
                    webhook.id, with: draft, by: AuditActor(second), if: .none, now: hooks.stores.now)
                #expect(replaced?.declaredBy == owner.id)
                for key in [first, second] {
                    #expect(try await Self.declared(hooks, by: key) == (key == owner ? [webhook.id] : []))
                }
            }
        }
    }

    @Test func `revoking a key disables its webhooks on request, also later`() async throws {
        try await withHooks { hooks in
            let (leaked, other) = (try await Self.key(hooks), try await Self.key(hooks))
            let bad = try await Self.create(hooks, by: leaked)
            let good = try await Self.create(hooks, by: other)
            func revoke(disabling: Bool) async throws -> Bool {
                try await hooks.stores.keys.revoke(
                    leaked.id, disablingWebhooks: disabling, by: .commandLine, now: hooks.stores.now)
            }
            #expect(try await revoke(disabling: false))
            #expect(try await hooks.webhooks.webhook(bad.id)?.state == .enabled)
            #expect(try await revoke(disabling: true))
            let disabled = try #require(try await hooks.webhooks.webhook(bad.id))
            #expect(disabled.state == .disabled && disabled.reason == "The key that declared it was revoked.")
            #expect(disabled.version != bad.version)
            #expect(try await hooks.webhooks.webhook(good.id)?.state == .enabled)
            #expect(try await revoke(disabling: true) == false)
            let entries = try await hooks.stores.audited().map(\.action)
            #expect(entries.prefix(2) == [.webhookDisabled, .keyRevoked])
        }
    }

    @Test func `a revoked key declares nothing, and other keys only for apps that they still reach`() async throws {
        try await withHooks { hooks in
            for app in ["com.example.Goal", "com.example.Other"] { try await hooks.stores.apps.put(.sample(app)) }
            let (revoked, bound) = (try await Self.key(hooks), try await Self.key(hooks, of: .sample()))
            let webhook = try await Self.create(hooks, by: bound, .only([.sample()]))
            _ = try await hooks.stores.keys.revoke(revoked.id, by: .commandLine, now: hooks.stores.now)
            let other = AppReach.only([try .sample("com.example.Other")])
            for (key, kind) in [(revoked, Problem.Kind.unauthenticated), (bound, .forbidden)] {
                try await refuses(kind) { try await Self.create(hooks, by: key, other) }
                try await refuses(kind) {
                    try await hooks.webhooks.replace(
                        webhook.id, with: try Self.draft("example.com", other), by: AuditActor(key), if: .none,
                        now: hooks.stores.now)
                }
            }
        }
    }

    @Test func `a webhook moved out of reach is not found by a write in progress`() async throws {
        try await withHooks { hooks in
            for app in ["com.example.Goal", "com.example.Other"] { try await hooks.stores.apps.put(.sample(app)) }
            let (store, now) = (hooks.webhooks, hooks.stores.now)
            let webhook = try await hooks.add([.broadcastSettled], apps: ["com.example.Goal", "com.example.Other"])
            let id = webhook.id
            let queued = try #require(try await store.test(id, by: .commandLine, now: now))
            let draft = try Self.draft("example.com", .only([.sample()]))
            // When the caller read the webhook, it covered only one app. Now it also covers another app or other
            // topics.
            for bounds in [WebhookFilter(within: .only([try .sample()])), WebhookFilter(topics: [.quotaLevel])] {
                #expect(
                    try await store.replace(id, with: draft, within: bounds, by: .server, if: .none, now: now) == nil)
                let rotated = try await store.rotateSecret(of: id, overlap: 0, within: bounds, by: .server, now: now)
                #expect(rotated == nil)
                #expect(try await store.test(id, within: bounds, by: .server, now: now) == nil)
                #expect(try await store.replay(queued.id, of: id, within: bounds, now: now) == nil)
                #expect(try await store.delete(id, within: bounds, by: .server, now: now) == false)
            }
            #expect(try await store.webhook(id) == webhook)
        }
    }
}
