internal import APNsWire
internal import Foundation
internal import Grandstand
internal import GrandstandContract
internal import GrandstandTestKit
internal import Postgres
internal import Testing

@testable internal import GrandstandServer

/// The messages that transactions write about their changes.
@Suite(.timeLimit(.minutes(20)))
struct WebhookNewsTests {
    @Test func `a lost channel and the one that replaces it are reported`() async throws {
        try await withHooks { hooks in
            let stores = hooks.stores
            let webhook = try await hooks.add([.channelMissing, .channelReplaced])
            try await stores.open()
            #expect(try await hooks.told().isEmpty)
            let lost = try await stores.channel()
            try await stores.lose(lost)
            let late = try await hooks.add([.channelMissing])
            try await hooks.setEnabled(false, late.uuid)
            stores.clock.advance(by: 1)
            try await stores.provision()
            let told = try await hooks.bodies()
            try #require(told.count == 2)
            #expect(told[0].contains(#""type":"channel.missing""#) && !told[0].contains("variant"))
            #expect(told[0].contains(#""reason":"APNs does not know it any more""#))
            let replaced = #""replaced":{"id":"\#(lost.id.text)","channelId":"\#(lost.channelID ?? "")"}}}"#
            #expect(told[1].contains(#""type":"channel.replaced""#) && told[1].hasSuffix(replaced))
            // Only webhooks that were subscribed at the event are told.
            try await hooks.setEnabled(true, late.uuid)
            #expect(try await hooks.log(webhook.uuid).count == 2)
            #expect(try await hooks.log(late.uuid).isEmpty)
        }
    }

    @Test func `a change that is rolled back is not reported, and a part of a transaction is reported with the whole`()
        async throws
    {
        try await withHooks { hooks in
            let stores = hooks.stores
            let database = Database(stores.pool)
            try await hooks.add([.eventState])
            let key = try await stores.open()
            struct Undo: Error {}
            @Sendable func cancel(andFail fails: Bool) async throws {
                try await database.transaction { connection in
                    try await database.joining(connection) { try await stores.cancel(key) }
                    if fails { throw Undo() }
                }
            }
            await #expect(throws: Undo.self) { try await cancel(andFail: true) }
            #expect(try await hooks.told().isEmpty)
            try await cancel(andFail: false)
            #expect(try await hooks.told() == ["event.state"])
        }
    }

    // MARK: Broadcasts

    @Test func `a broadcast is reported once, when its last delivery is settled`() async throws {
        try await withCrowds { world in
            let stores = world.stores
            try await stores.open(audiences: [.sample(), .sample("com.example.Other")])
            try await world.show("aa01")
            try await world.show("aa02", frequent: false)
            let hooks = try await Hooks(stores)
            try await hooks.add([.broadcastSettled])
            let broadcast = try await stores.accept(.update())
            let claimed = try await stores.claim()
            try #require(claimed.count == 2)
            try await stores.settle(claimed[0], .ok)
            try await stores.settle(claimed[1], .rejected(.badRequest))
            #expect(try await hooks.told().isEmpty)
            for shard in try await world.claim() {
                try await world.settle(shard) { _ in .rejected(reason: "BadTopic") }
            }
            let bodies = try await hooks.bodies()
            #expect(bodies.count == 1)
            for part in [broadcast.id, #""accepted":1"#, #""BadPriority":1"#, #""BadTopic":1"#] {
                #expect(bodies.first?.contains(part) == true, "\(bodies)")
            }
        }
    }

    @Test func `a withdrawn broadcast is reported as cancelled and never as done`() async throws {
        try await withHooks { hooks in
            let stores = hooks.stores
            try await hooks.add([.broadcastSettled])
            try await stores.open()
            for sendAt in [stores.now + 60, nil] {
                let broadcast = try await stores.accept(.update(sendAt: sendAt))
                #expect(try await stores.withdraw(broadcast) == true)
                let bodies = try await hooks.bodies()
                #expect(bodies.count == 1)
                #expect(bodies.allSatisfy { $0.contains(#""state":"cancelled""#) })
            }
        }
    }

    @Test func `a broadcast reported as superseded and sent after all is reported again`() async throws {
        try await withHooks { hooks in
            let stores = hooks.stores
            try await hooks.add([.broadcastSettled])
            try await stores.open()
            let first = try await stores.accept(.update(#"{"n":1}"#))
            let second = try await stores.accept(.update(#"{"n":2}"#))
            #expect(try await hooks.bodies().map { $0.contains(#""superseded":1"#) } == [true])
            #expect(try await stores.withdraw(second) == true)
            #expect(try await hooks.bodies().map { $0.contains(second.id) } == [true])
            try await stores.sendOne()
            let told = try await hooks.bodies()
            #expect(told.map { $0.contains(first.id) } == [true])
            #expect(told.allSatisfy { $0.contains(#""accepted":1"#) && $0.contains(#""state":"done""#) })
        }
    }

    /// Two transactions settle the last two deliveries at the same time. Neither sees the change of the other, but the
    /// later one waits for the lock of the broadcast's row.
    @Test func `of deliveries settled at the same time the last is noticed`() async throws {
        try await withHooks { hooks in
            let stores = hooks.stores
            try await hooks.add([.broadcastSettled])
            try await stores.open(audiences: [.sample(), .sample("com.example.Other")])
            for _ in 0..<10 {
                try await stores.accept(.update(alert: #""Goal""#))
                let claimed = try await stores.claim()
                try #require(claimed.count == 2)
                try await withThrowingTaskGroup { group in
                    for delivery in claimed { group.addTask { try await stores.settle(delivery, .ok) } }
                    try await group.waitForAll()
                }
            }
            #expect(try await hooks.bodies().count == 10)
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
            func told(_ request: Contract.BroadcastDraft) async throws -> [Int] {
                try await stores.accept(request)
                for delivery in try await stores.claim() { try await stores.settle(delivery, .ok) }
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

    // MARK: Events, apps and quotas

    @Test func `who ended, cancelled or reopened an event is told once, also if the end was scheduled before`()
        async throws
    {
        try await withHooks { hooks in
            let stores = hooks.stores
            try await hooks.add([.eventState])
            let key = try await stores.open()
            let (desk, night) = (AuditActor.key(id: UUID(), name: "desk"), AuditActor.key(id: UUID(), name: "night"))
            func told() async throws -> [String] {
                try await stores.pool.query("delete from webhook_messages returning body::text as body").map {
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
            let end = Contract.BroadcastDraft(event: .end, sendAt: .at(stores.now.addingTimeInterval(60)))
            _ = try await stores.accept([Intake(.event(key), request: end, by: desk)])[0].get()
            _ = try await stores.accept([Intake(.event(key), request: .update(), by: night)])[0].get()
            stores.clock.advance(by: 60)
            try await stores.promote()
            let ended = try await told()
            #expect(ended.count == 1 && ended.first?.hasSuffix(data("ended", by: "desk")) == true)
        }
    }

    @Test func `a capability that goes off, and what a reconciliation found, is reported once each time`()
        async throws
    {
        try await withHooks { hooks in
            let stores = hooks.stores
            try await stores.open()
            try await hooks.add([.capabilityOff, .reconciliationFound])
            for (alarm, found) in [
                (Contract.ReconciliationAlarm.capabilityOff, 1), (.capabilityOff, 1), (.listIncomplete, 2),
            ] {
                try await stores.finish(try await stores.beginReconciliation(), alarm)
                let told = try await hooks.told()
                #expect(told.count { $0 == "capability.off" } == 1 && told.count == 1 + found)
            }
            for value in ["on", "off", "off"] {
                try await stores.apps.remember(
                    Contract.Quirk(
                        environment: .production, quirk: .broadcastFeature, value: .init(rawValue: value),
                        learnedAt: stores.now, evidence: "BroadcastFeatureNotEnabled"), for: .sample())
            }
            #expect(try await hooks.bodies().count == 4)
        }
    }

    @Test func `a quota level is reported once by one of several replicas`() async throws {
        try await withHooks { hooks in
            let stores = hooks.stores
            _ = try await stores.apps.put(.sample(channelLimit: 1))
            try await hooks.add([.quotaLevel])
            func note() async throws {
                let quotas = try await stores.quotas()
                _ = try await concurrently(4) { _ in try await stores.channels.noteLevels(of: quotas, now: stores.now) }
            }
            try await note()
            #expect(try await hooks.told().isEmpty)
            try await stores.open()
            try await note()
            #expect(try await hooks.told() == ["quota.level"])
            let body = try #require(try await hooks.claim().first).body.description
            #expect(body.contains(#""level":"critical","previousLevel":"ok""#))
        }
    }
}

/// Which key declared a webhook, who may change the webhook, and what happens to it when this key is revoked.
struct WebhookDeclarationTests {
    private static func caller(_ hooks: Hooks, of app: BundleID? = nil) async throws -> APIKey {
        try await hooks.stores.keys.create(name: "k", scopes: [.organise], bundleID: app).key
    }

    private static func draft(_ host: String = "example.com", _ app: String? = nil) -> Contract.WebhookDraft {
        Contract.WebhookDraft(
            url: "https://\(host)/hooks", topics: [.broadcastSettled], bundleIds: app.map { [$0] }, enabled: true)
    }

    private static func create(_ hooks: Hooks, _ caller: APIKey, _ app: String? = nil) async throws -> UUID {
        Sample.known(UUID(uuidString: try await hooks.webhooks.create(draft("example.com", app), caller).id))
    }

    private static func declared(_ hooks: Hooks, by caller: APIKey) async throws -> [UUID] {
        try await hooks.webhooks.list(PageRequest(), declaredBy: caller.id, hooks.caller).items.map(\.uuid)
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
                #expect(replaced.value.declaredBy == owner.id.text)
                for caller in [first, second] {
                    #expect(try await Self.declared(hooks, by: caller) == (caller.id == owner.id ? [id] : []))
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
                    leaked.id, disablingWebhooks: disabling, by: .commandLine)
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
            _ = try await hooks.stores.keys.revoke(revoked.id, by: .commandLine)
            for (caller, kind) in [(revoked, Problem.Kind.unauthenticated), (bound, .forbidden)] {
                try await refuses(kind) { try await Self.create(hooks, caller, "com.example.Other") }
                try await refuses(kind) {
                    try await hooks.webhooks.replace(
                        id, with: Self.draft("example.com", "com.example.Other"), if: .none, caller)
                }
            }
        }
    }

    @Test func `an app has at most twenty webhooks, also if many are made at once, and other apps' do not count`()
        async throws
    {
        try await withHooks { hooks in
            let (goal, other) = ("com.example.Goal", "com.example.Other")
            for app in [goal, other] { try await hooks.stores.apps.put(.sample(app)) }
            let made = try await concurrently(24) { _ -> UUID? in
                do {
                    return try await Self.create(hooks, hooks.caller, goal)
                } catch let problem as Problem where problem.kind == .webhookLimit && problem.limit == 20 {
                    return nil
                }
            }.compactMap(\.self)
            try #require(made.count == 20)
            _ = try await Self.create(hooks, hooks.caller, other)
            // The limit also holds when an existing webhook is changed to belong to this app.
            let draft = Self.draft("example.com", goal)
            func move(_ webhook: UUID) async throws {
                _ = try await hooks.webhooks.replace(webhook, with: draft, if: .none, hooks.caller)
            }
            let all = try await Self.create(hooks, hooks.caller)
            try await refuses(.webhookLimit) { try await move(all) }
            try await move(made[0])
            // A deleted webhook makes room for another one.
            try await hooks.webhooks.delete(made[0], hooks.caller)
            try await move(all)
        }
    }
}
