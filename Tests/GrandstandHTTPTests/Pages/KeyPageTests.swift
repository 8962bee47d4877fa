internal import Foundation
internal import Grandstand
internal import HTTPTypes
internal import JSON
internal import PortFakes
internal import Synchronization
internal import Testing

@testable internal import GrandstandHTTP

/// Forms and pages of keys, webhooks and apps.
struct KeyPageTests {
    private static let id = "11111111-2222-4333-8444-555555555555"

    private static func key(_ reach: AppReach = .all) throws -> APIKey {
        APIKey(
            id: try #require(UUID(uuidString: id)), name: "TV <b>", scopes: [.lookup], reach: reach, prefix: "gs_abc",
            createdAt: Samples.now, revokedAt: nil)
    }

    @Test func `a key is created as the form says, and its secret is shown once`() async throws {
        let (drafts, key) = (Taken<KeyDraft>(), try Self.key())
        var world = ConsoleWorld()
        world.ledger.create = { draft in
            drafts.add(draft)
            return IssuedKey(key: key, secret: "gs_new")
        }
        let answer = try await world.submit(
            "/console/keys",
            [
                ("name", "TV"), ("scope", "lookup"), ("scope", "organise"),
                ("bundleIds", "com.example.Stadium, com.example.Other"), ("expiresAt", "2027-01-01T12:00"),
            ])
        #expect(answer.status == 200)
        #expect(answer.body.contains(#"<code class="secret">gs_new</code>"#))
        #expect(answer.headers[.cacheControl] == "no-store")
        let expiresAt = RFC3339.date("2027-01-01T12:00:00Z")
        #expect(expiresAt != nil)
        #expect(
            drafts.all == [
                KeyDraft(
                    name: "TV", scopes: [.lookup, .organise], reach: .only([Sample.stadium, Sample.other]),
                    expiresAt: expiresAt)
            ])
        #expect(world.done.names.allSatisfy { $0.hasPrefix("console-") } && world.done.names.count == 1)
        #expect(try await world.submit("/console/keys", [], as: "operate").status == 403)
        // The page of the refusal contains the API's text and the form.
        let refused = try await world.submit("/console/keys", [("name", "TV"), ("expiresAt", "soon")])
        #expect(refused.status == 422 && refused.body.contains("/expiresAt") && refused.body.contains("/scopes"))
        #expect(drafts.all.count == 1)
    }

    @Test func `keys are listed and shown with the possible actions`() async throws {
        let listing = KeyListing(key: try Self.key(), lastUsedAt: nil)
        var world = ConsoleWorld()
        world.ledger.list = { _, _ in Page(items: [listing], nextCursor: "n=") }
        world.ledger.find = { _ in listing }
        let list = try await world.get("/console/keys")
        #expect(list.status == 200)
        #expect(list.body.contains("TV &lt;b&gt;") && list.body.contains("cursor=n%3D"))
        world.webhooks.list = { filter, _ in
            guard filter.declaredBy == listing.key.id else { throw Unasked() }
            return Page(items: [], nextCursor: nil)
        }
        let page = try await world.get("/console/keys/\(Self.id)")
        #expect(page.body.contains(#"action="/console/keys/\#(Self.id)/revoke""#))
        #expect(!page.body.contains("disableWebhooks"))
        #expect(page.body.contains(#"name="currentKey""#))
        #expect(try await world.get("/console/keys", as: "operate").status == 403)
    }

    @Test func `before a key is revoked or rotated, people enter their own key again`() async throws {
        let (key, revoked, disabling, ends) = (try Self.key(), Taken<UUID>(), Taken<Bool>(), Taken<Date>())
        var world = ConsoleWorld()
        world.ledger.find = { _ in KeyListing(key: key, lastUsedAt: nil) }
        world.ledger.revoke = { id, disablingWebhooks in
            revoked.add(id)
            disabling.add(disablingWebhooks)
            return true
        }
        world.ledger.rotate = { _, overlapEnds in
            ends.add(overlapEnds)
            return IssuedKey(key: key, secret: "gs_next")
        }
        for path in ["revoke", "rotate"] {
            #expect(try await world.submit("/console/keys/\(Self.id)/\(path)").status == 422)
        }
        #expect(revoked.all.isEmpty && ends.all.isEmpty)
        let gone = try await world.submit("/console/keys/\(Self.id)/revoke", [("currentKey", "admin")])
        #expect(gone.location == "/console/keys" && revoked.all == [key.id])
        let both = try await world.submit(
            "/console/keys/\(Self.id)/revoke", [("currentKey", "admin"), ("disableWebhooks", "true")])
        #expect(both.location == "/console/keys" && disabling.all == [false, true])
        let rotated = try await world.submit(
            "/console/keys/\(Self.id)/rotate", [("currentKey", "admin"), ("overlapSeconds", "0")])
        #expect(rotated.body.contains("gs_next"))
        #expect(ends.all == [Samples.now])
        let long = try await world.submit(
            "/console/keys/\(Self.id)/rotate", [("currentKey", "admin"), ("overlapSeconds", "99999999")])
        #expect(long.status == 422 && ends.all.count == 1)
    }

    @Test func `a revoked key's page lists the webhooks that it declared, and can disable them`() async throws {
        var key = try Self.key()
        key.revokedAt = Samples.now
        let listing = KeyListing(key: key, lastUsedAt: nil)
        var world = ConsoleWorld()
        world.ledger.find = { _ in listing }
        for state in Webhook.State.allCases {
            var webhook = Sample.webhook()
            (webhook.state, webhook.draft.isEnabled) = (state, state == .enabled)
            world.webhooks.list = { [webhook] _, _ in Page(items: [webhook], nextCursor: nil) }
            let page = try await world.get("/console/keys/\(Self.id)")
            #expect(page.body.contains(#"href="/console/webhooks/\#(webhook.id.words)""#))
            #expect(page.body.contains(#"name="disableWebhooks" value="true""#) == (state == .enabled))
        }
    }

    @Test func `a key of another app cannot be reached`() async throws {
        let listing = KeyListing(key: try Self.key(.only([Sample.other])), lastUsedAt: nil)
        var world = ConsoleWorld()
        world.ledger.find = { _ in listing }
        #expect(try await world.get("/console/keys/\(Self.id)", as: "admin@").status == 404)
        let answer = try await world.submit(
            "/console/keys/\(Self.id)/revoke", [("currentKey", "admin@")], as: "admin@")
        #expect(answer.status == 404)
    }

    @Test func `pausing a webhook keeps its other settings`() async throws {
        let webhook = Webhook(
            id: try #require(UUID(uuidString: Self.id)),
            draft: WebhookDraft(
                url: try #require(WebhookURL(rawValue: "https://example.com/hook")), description: "TV",
                topics: [.broadcastSettled], reach: .all, isEnabled: true),
            state: .enabled, reason: nil, failingSince: nil, previousSecretUntil: nil, createdAt: Samples.now,
            updatedAt: Samples.now, version: 7)
        let saved = Taken<WebhookDraft>()
        let there = Mutex(true)
        var world = ConsoleWorld()
        world.webhooks.find = { _ in there.withLock(\.self) ? webhook : nil }
        world.webhooks.save = { _, draft, condition in
            #expect(condition == .versions([7]))
            saved.add(draft)
            return webhook
        }
        world.webhooks.log = { _, _, _ in Page(items: [], nextCursor: nil) }
        world.webhooks.remove = { _, _ in
            there.withLock { there in
                defer { there = false }
                return there
            }
        }
        let paused = try await world.submit("/console/webhooks/\(Self.id)/pause", as: "organise")
        #expect(paused.location == "/console/webhooks/\(Self.id)")
        var wanted = webhook.draft
        wanted.isEnabled = false
        #expect(saved.all == [wanted])
        let page = try await world.get("/console/webhooks/\(Self.id)", as: "organise")
        #expect(page.body.contains(#"name="etag" value="&quot;7&quot;""#))
        #expect(page.body.contains("No message fits."))
        // The first form deletes the webhook. The second finds no webhook, and gets the same answer.
        for _ in 0..<2 {
            let gone = try await world.submit(
                "/console/webhooks/\(Self.id)/delete", [("currentKey", "organise")], as: "organise")
            #expect(gone.location == "/console/webhooks")
        }
    }

    @Test func `a webhook form sent twice works once, and one based on an old version is refused`()
        async throws
    {
        var webhook = Webhook(
            id: try #require(UUID(uuidString: Self.id)),
            draft: WebhookDraft(
                url: try #require(WebhookURL(rawValue: "https://example.com/hook")), description: nil,
                topics: [.broadcastSettled], reach: .all, isEnabled: true),
            state: .enabled, reason: nil, failingSince: nil, previousSecretUntil: nil, createdAt: Samples.now,
            updatedAt: Samples.now, version: 8)
        webhook.reason = nil
        let present = webhook
        var world = ConsoleWorld()
        world.webhooks.find = { _ in present }
        world.webhooks.save = { _, _, _ in throw Problem(.versionMismatch, "Somebody was faster.") }
        func change(_ url: String) async throws -> ConsoleWorld.Answer {
            try await world.submit(
                "/console/webhooks/\(Self.id)",
                [("url", url), ("topic", "broadcast.settled"), ("enabled", "true"), ("etag", "\"7\"")],
                as: "organise")
        }
        #expect(try await change("https://example.com/hook").status == 303)
        #expect(try await change("https://example.com/other").status == 412)
    }

    @Test func `an app form sent twice works once, and one based on an old version is refused`() async throws {
        let conditions = Taken<WriteCondition>()
        var world = ConsoleWorld()
        let app = App(
            bundleID: Sample.stadium, name: "Stadium",
            credentials: Credentials(teamID: "TEAM123456", keyID: "KEY1234567"), channelLimit: 100, version: 4)
        world.apps.find = { _ in app }
        world.apps.save = { _, condition in
            conditions.add(condition)
            throw Problem(.versionMismatch, "Somebody was faster.")
        }
        func fields(_ name: String) -> [(String, String)] {
            [
                ("name", name), ("teamId", "TEAM123456"), ("keyId", "KEY1234567"), ("channelLimit", "100"),
                ("etag", "\"3\""),
            ]
        }
        let twice = try await world.submit("/console/apps/com.example.Stadium", fields("Stadium"))
        #expect(twice.status == 303, "\(twice.body)")
        let overtaken = try await world.submit("/console/apps/com.example.Stadium", fields("Arena"))
        #expect(overtaken.status == 412)
        #expect(overtaken.body.contains("It was changed meanwhile") && overtaken.body.contains(#"value="Arena""#))
        // The same form would be refused again, so the page does not offer to send it again.
        #expect(!overtaken.body.contains("Send again") && overtaken.body.contains("Open the page again"))
        #expect(!overtaken.body.contains("&quot;3&quot;"))
        #expect(conditions.all == [.versions([3]), .versions([3])])
    }

    @Test func `an app's templates are shown, and kept if a form has no fields for them`()
        async throws
    {
        let (taken, samples) = (Taken<AppPreview?>(), try Samples())
        var app = samples.registered()
        app.preview = AppPreview(compact: "{{home}}")
        #expect(AppForm(app).previews.map(\.compact) == ["{{home}}"])
        #expect(AppForm(nil).previews.isEmpty)
        var world = ConsoleWorld()
        world.apps.find = { [app] _ in app }
        world.apps.save = { app, _ in
            taken.add(app.preview)
            return (app, created: false)
        }
        for more in [[], [("preview.compact", ""), ("preview.expanded", "y")], [("preview.compact", "")]] {
            let fields = [("name", "A"), ("teamId", "TEAM123456"), ("keyId", "KEY1234567")] + more
            let answer = try await world.submit("/console/apps/com.example.Stadium", fields)
            #expect(answer.status == 303, "\(answer.body)")
        }
        #expect(taken.all == [AppPreview(compact: "{{home}}"), AppPreview(expanded: "y"), nil])
    }
}

/// The arguments of the calls of a fake's function, in order.
private final class Taken<Value: Sendable>: Sendable {
    private let values = Mutex<[Value]>([])

    var all: [Value] { values.withLock(\.self) }

    func add(_ value: Value) { values.withLock { $0.append(value) } }
}
