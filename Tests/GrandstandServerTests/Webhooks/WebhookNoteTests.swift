internal import APNsWire
internal import Foundation
internal import Grandstand
internal import GrandstandContract
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
            try await hooks.setEnabled(false, early.uuid)
            #expect(try await hooks.compose() == 1)
            #expect(try await hooks.log(early.uuid).map(\.state) == [.queued])
            #expect(try await hooks.log(late.uuid).isEmpty)
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
            _ = try await stores.accept([Intake(.event(key), request: end, by: desk)])[0].get()
            _ = try await stores.accept([Intake(.event(key), request: .update(), by: night)])[0].get()
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
                    Contract.Quirk(
                        environment: .production, quirk: .broadcastFeature, value: .init(rawValue: value),
                        learnedAt: hooks.stores.now,
                        evidence: "BroadcastFeatureNotEnabled"), for: app)
            }
            #expect(try await hooks.told() == Array(repeating: "capability.off", count: 3))
        }
    }

    @Test func `a quota level is reported once by one of several replicas`() async throws {
        try await withHooks { hooks in
            let stores = hooks.stores
            let levels = QuotaLevels(database: Database(stores.pool))
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
                channels: stores.channels, levels: QuotaLevels(database: Database(stores.pool)), signals: .byHand,
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
            try await stores.finish(run, .listIncomplete)
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
                return [own, all, pair].map { webhook in messages.count { $0.webhook == webhook.uuid } }
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
            #expect(Set(webhooks) == [pair.uuid, all.uuid])
        }
    }
}

/// Which key declared a webhook, who may change the webhook, and what happens to it when this key is revoked.
struct WebhookDeclarationTests {
    private static func caller(_ hooks: Hooks, of app: BundleID? = nil) async throws -> Caller {
        Caller(key: try await hooks.stores.keys.create(name: "k", scopes: [.organise], bundleID: app).key)
    }

    private static func draft(_ host: String = "example.com", _ app: String? = nil) -> Contract.WebhookDraft {
        Contract.WebhookDraft(
            url: "https://\(host)/hooks", topics: [.broadcastSettled], bundleIds: app.map { [$0] }, enabled: true)
    }

    private static func create(_ hooks: Hooks, _ caller: Caller, _ app: String? = nil) async throws -> UUID {
        Sample.known(UUID(uuidString: try await hooks.webhooks.create(draft("example.com", app), caller).id))
    }

    private static func declared(_ hooks: Hooks, by caller: Caller) async throws -> [UUID] {
        try await hooks.webhooks.list(PageRequest(), declaredBy: caller.key.id, hooks.caller).items.map(\.uuid)
    }

    @Test func `a webhook belongs to its declaring key until another key changes its URL or content`() async throws {
        try await withHooks { hooks in
            let (first, second) = (try await Self.caller(hooks), try await Self.caller(hooks))
            let id = try await Self.create(hooks, first)
            #expect(try await Self.declared(hooks, by: first) == [id])
            var paused = Self.draft()
            (paused.description, paused.enabled) = ("paused by a colleague", false)
            for (draft, owner) in [(paused, first), (Self.draft("other.example"), second)] {
                let replaced = try await hooks.webhooks.replace(id, with: draft, if: .none, second)
                #expect(replaced.value.declaredBy == owner.key.id.words)
                for caller in [first, second] {
                    #expect(
                        try await Self.declared(hooks, by: caller) == (caller.key == owner.key ? [id] : []))
                }
            }
        }
    }

    @Test func `revoking a key disables its webhooks on request, also later`() async throws {
        try await withHooks { hooks in
            let (leaked, other) = (try await Self.caller(hooks), try await Self.caller(hooks))
            let (bad, good) = (try await Self.create(hooks, leaked), try await Self.create(hooks, other))
            let before = try await hooks.webhook(bad)
            func revoke(disabling: Bool) async throws -> Bool {
                try await hooks.stores.keys.revoke(
                    leaked.key.id, disablingWebhooks: disabling, by: .commandLine, now: hooks.stores.now)
            }
            #expect(try await revoke(disabling: false))
            #expect(try await hooks.webhook(bad).value.enabled)
            #expect(try await revoke(disabling: true))
            let disabled = try await hooks.webhook(bad)
            #expect(!disabled.value.enabled && disabled.value.reason == "The key that declared it was revoked.")
            #expect(disabled.version != before.version)
            #expect(try await hooks.webhook(good).value.enabled)
            #expect(try await revoke(disabling: true) == false)
            let entries = try await hooks.stores.audited().map(\.action)
            #expect(entries.prefix(2) == [.webhookDisabled, .keyRevoked])
        }
    }

    @Test func `a revoked key declares nothing, and other keys only for apps that they still reach`() async throws {
        try await withHooks { hooks in
            for app in ["com.example.Goal", "com.example.Other"] { try await hooks.stores.apps.put(.sample(app)) }
            let (revoked, bound) = (try await Self.caller(hooks), try await Self.caller(hooks, of: .sample()))
            let id = try await Self.create(hooks, bound, "com.example.Goal")
            _ = try await hooks.stores.keys.revoke(revoked.key.id, by: .commandLine, now: hooks.stores.now)
            for (caller, kind) in [(revoked, Problem.Kind.unauthenticated), (bound, .forbidden)] {
                try await refuses(kind) { try await Self.create(hooks, caller, "com.example.Other") }
                try await refuses(kind) {
                    try await hooks.webhooks.replace(
                        id, with: Self.draft("example.com", "com.example.Other"), if: .none, caller)
                }
            }
        }
    }
}
