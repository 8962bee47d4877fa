internal import Foundation
internal import Grandstand
internal import GrandstandTestKit
internal import Postgres
internal import Testing

@testable internal import GrandstandStore

/// Which key declared a webhook, who may change the webhook, and what happens to it when this key is revoked.
struct WebhookDeclarationTests {
    private static func key(_ hooks: Hooks, of app: BundleID? = nil) async throws -> APIKey {
        try await hooks.stores.keys.create(name: "k", scopes: [.organise], bundleID: app).key
    }

    private static func draft(_ host: String = "example.com", _ reach: AppReach = .all) throws -> WebhookDraft {
        WebhookDraft(
            url: try #require(WebhookURL(rawValue: "https://\(host)/hooks")), topics: [.broadcastSettled], reach: reach)
    }

    private static func declared(_ hooks: Hooks, by key: APIKey) async throws -> [UUID] {
        try await hooks.webhooks.webhooks(where: WebhookFilter(declaredBy: key.id), PageRequest(limit: 10)).items.map(
            \.id)
    }

    @Test func `a webhook belongs to its declaring key until another key changes its URL or content`() async throws {
        try await withHooks { hooks in
            let (first, second) = (try await Self.key(hooks), try await Self.key(hooks))
            let now = hooks.stores.now
            let webhook = try await hooks.webhooks.create(try Self.draft(), by: AuditActor(first), now: now).webhook
            #expect(webhook.declaredBy == first.id)
            var draft = try Self.draft()
            (draft.description, draft.isEnabled) = ("paused by a colleague", false)
            let paused = try await hooks.webhooks.replace(
                webhook.id, with: draft, by: AuditActor(second), if: .none, now: now)
            #expect(paused?.declaredBy == first.id)
            #expect(try await Self.declared(hooks, by: first) == [webhook.id])
            let moved = try await hooks.webhooks.replace(
                webhook.id, with: try Self.draft("other.example"), by: AuditActor(second), if: .none, now: now)
            #expect(moved?.declaredBy == second.id)
            #expect(try await Self.declared(hooks, by: first).isEmpty)
            #expect(try await Self.declared(hooks, by: second) == [webhook.id])
        }
    }

    @Test func `revoking a key disables its webhooks on request, also later`() async throws {
        try await withHooks { hooks in
            let (leaked, other) = (try await Self.key(hooks), try await Self.key(hooks))
            let now = hooks.stores.now
            let bad = try await hooks.webhooks.create(try Self.draft(), by: AuditActor(leaked), now: now).webhook
            let good = try await hooks.webhooks.create(try Self.draft(), by: AuditActor(other), now: now).webhook
            let keys = hooks.stores.keys
            #expect(try await keys.revoke(leaked.id, by: .commandLine, now: now))
            #expect(try await hooks.webhooks.webhook(bad.id)?.state == .enabled)
            #expect(try await keys.revoke(leaked.id, disablingWebhooks: true, by: .commandLine, now: now))
            let disabled = try #require(try await hooks.webhooks.webhook(bad.id))
            #expect(disabled.state == .disabled && disabled.reason == "The key that declared it was revoked.")
            #expect(disabled.version != bad.version)
            #expect(try await hooks.webhooks.webhook(good.id)?.state == .enabled)
            #expect(try await keys.revoke(leaked.id, disablingWebhooks: true, by: .commandLine, now: now) == false)
            let log = try await hooks.stores.pool.query(
                "select action::text as action from audit_log where action::text in ('key.revoked', 'webhook.disabled') order by id"
            )
            #expect(try log.map { try $0.decode(String.self, "action") } == ["key.revoked", "webhook.disabled"])
        }
    }

    @Test func `a revoked key declares nothing, and other keys only for apps that they still reach`() async throws {
        try await withHooks { hooks in
            _ = try await hooks.stores.apps.put(.sample())
            _ = try await hooks.stores.apps.put(.sample("com.example.Other"))
            let (revoked, bound) = (try await Self.key(hooks), try await Self.key(hooks, of: .sample()))
            let now = hooks.stores.now
            let webhook = try await hooks.webhooks.create(
                try Self.draft("example.com", .only([.sample()])), by: AuditActor(bound), now: now
            ).webhook
            _ = try await hooks.stores.keys.revoke(revoked.id, by: .commandLine, now: now)
            for actor in [AuditActor(revoked), AuditActor(bound)] {
                let expected: Problem.Kind = actor == AuditActor(revoked) ? .unauthenticated : .forbidden
                let other = try Self.draft("example.com", .only([.sample("com.example.Other")]))
                #expect(try await problem { try await hooks.webhooks.create(other, by: actor, now: now) } == expected)
                #expect(
                    try await problem {
                        try await hooks.webhooks.replace(webhook.id, with: other, by: actor, if: .none, now: now)
                    } == expected)
            }
        }
    }

    @Test func `a webhook moved out of reach is not found by a write in progress`() async throws {
        try await withHooks { hooks in
            _ = try await hooks.stores.apps.put(.sample())
            _ = try await hooks.stores.apps.put(.sample("com.example.Other"))
            let now = hooks.stores.now
            let webhook = try await hooks.add([.broadcastSettled], apps: ["com.example.Goal", "com.example.Other"])
            let queued = try #require(try await hooks.webhooks.test(webhook.id, by: .commandLine, now: now))
            let draft = try Self.draft("example.com", .only([.sample()]))
            // When the caller read the webhook, it covered only one app. Now it also covers another app or other
            // topics.
            for bounds in [WebhookFilter(within: .only([try .sample()])), WebhookFilter(topics: [.quotaLevel])] {
                let store = hooks.webhooks
                let replaced = try await store.replace(
                    webhook.id, with: draft, within: bounds, by: .commandLine, if: .none, now: now)
                #expect(replaced == nil)
                let rotated = try await store.rotateSecret(
                    of: webhook.id, overlap: 0, within: bounds, by: .commandLine, now: now)
                #expect(rotated == nil)
                #expect(try await store.test(webhook.id, within: bounds, by: .commandLine, now: now) == nil)
                #expect(try await store.replay(queued.id, of: webhook.id, within: bounds, now: now) == nil)
                #expect(try await store.delete(webhook.id, within: bounds, by: .commandLine, now: now) == false)
            }
            #expect(try await hooks.webhooks.webhook(webhook.id) == webhook)
        }
    }
}
