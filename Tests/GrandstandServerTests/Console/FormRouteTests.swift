internal import APNsWire
internal import Foundation
internal import Grandstand
internal import JSON
internal import Synchronization
internal import Testing

@testable internal import GrandstandServer

/// Which calls the console's forms make. The browser check plays them with a real browser.
struct FormRouteTests {
    /// The calls that the ports received.
    private final class Asked: Sendable {
        private let asked = Mutex<[String]>([])
        func add(_ line: String) { asked.withLock { $0.append(line) } }
        var lines: [String] { asked.withLock(\.self) }
    }

    private static let id = "11111111-2222-4333-8444-555555555555"
    private static let app = "apps/com.example.Stadium"
    private static let channels = app + "/production/channels"
    private static let runs = app + "/production/reconciliations/run/"

    private static let key = APIKey(
        id: Sample.id, name: "TV <b>", scopes: [.lookup], reach: .all, prefix: "gs_abc", createdAt: Samples.now,
        revokedAt: nil)

    /// A world with one object of each kind. Every call that changes something is recorded.
    private static func world(_ asked: Asked) throws -> ConsoleWorld {
        @Sendable func ask<Value>(_ call: String, _ answer: Value) throws -> Value {
            asked.add(call)
            return answer
        }
        var world = ConsoleWorld()
        world.apps.find = { _ in Sample.app() }
        world.apps.list = { _, _ in Page(items: [Sample.app()], nextCursor: nil) }
        world.apps.save = { app, condition in try ask("put \(app.name) \(condition)", (app: app, created: false)) }
        world.apps.remove = { try ask("remove \($0)", ()) }

        let samples = try Samples()
        let (message, begun) = (try samples.message([samples.delivery(.accepted)]), samples.start())
        let rehearsed = try samples.rehearsed().rehearsal
        var event = samples.event()
        event.version = 7
        world.events.find = { [event] _ in event }
        world.events.save = { [event] wanted, _, condition in
            let times: [String] = [wanted.startsAt, wanted.endsAt].map { $0.map(RFC3339.text) ?? "-" }
            return try ask("put \(wanted.key) \(times[0]) \(times[1]) \(condition)", (event: event, created: true))
        }
        world.events.end = { key, sendsEnd, _ in try ask("cancel \(key) \(sendsEnd)", ()) }
        world.events.takeBack = { [event] key, _, _ in try ask("reopen \(key)", Reopening(event: event, parts: [])) }
        world.starts.tell = { _, _ in [begun] }
        world.starts.ask = { key, _ in try ask("start \(key)", ()) }
        world.starts.halt = { key, _ in try ask("stop \(key)", ()) }
        world.outbox.list = { _, _, _ in Page(items: [message], nextCursor: nil) }
        world.outbox.find = { $0 == message.id ? message : nil }
        world.outbox.withdraw = { try ask("withdraw \($0.words)", true) }
        world.outbox.hear = { try ask("state \($0.eventKey)", nil) }
        world.outbox.rehearsal = { try ask("preview \($0.request.payload.event)", rehearsed) }
        world.outbox.take = { try $0.map { .success(try ask("send \($0.request.payload.event)", message)) } }

        world.ledger.find = { _ in KeyListing(key: key, lastUsedAt: nil) }
        world.ledger.create = { draft in
            let wanted = KeyDraft(
                name: "TV", scopes: [.lookup, .organise], reach: .only([Sample.stadium, Sample.other]),
                expiresAt: RFC3339.date("2027-01-01T12:00:00Z"))
            return try ask("create key \(draft == wanted)", IssuedKey(key: key, secret: "gs_new"))
        }
        world.ledger.revoke = { _, disablingWebhooks in try ask("revoke \(disablingWebhooks)", true) }
        world.ledger.rotate = { _, overlapEnds in
            let overlap = Int(overlapEnds.timeIntervalSince(Samples.now))
            return try ask("rotate \(overlap)", IssuedKey(key: key, secret: "gs_next"))
        }

        let secret = Sample.known(WebhookSecret(rawValue: "whsec_MTIzNDU2Nzg5MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTI="))
        world.webhooks.find = { _ in Sample.webhook() }
        world.webhooks.save = { _, draft, condition in
            // Only `isEnabled` changes. The webhook keeps its other settings.
            var same = draft
            same.isEnabled = true
            guard same == Sample.webhook().draft else { throw Unasked() }
            return try ask("put webhook \(draft.isEnabled) \(condition)", Sample.webhook())
        }
        world.webhooks.rotate = { _, overlap in
            try ask("rotate secret \(Int(overlap))", (webhook: Sample.webhook(), secret: secret))
        }
        world.webhooks.post = { _ in try ask("test", Sample.delivery) }
        world.webhooks.again = { _, _ in try ask("replay", Sample.delivery) }
        world.webhooks.remove = { _, _ in try ask("delete webhook", true) }

        world.gateway.state = .ok
        world.gateway.create = { _, _ in .accepted("abc==", .init(requestID: nil)) }
        world.gateway.read = { id, _ in
            asked.add("read \(id)")
            return .accepted(.noMessageStored, .init(requestID: nil))
        }
        world.gateway.delete = { _, _ in .accepted((), .init(requestID: nil)) }
        world.gateway.list = { _ in .accepted(ChannelListing(channelIDs: []), .init(requestID: nil)) }
        world.channels.find = { _ in Sample.channel() }
        world.channels.locate = { _ in Sample.address }
        world.channels.intend = { try ask("create \($0.storagePolicy.rawValue)", Sample.task(.creating)) }
        world.channels.beginCall = { _ in true }
        world.channels.adopt = { try ask("import \($0.channelID)", Sample.channel()) }
        world.channels.begin = { _, _, force in try ask("delete channel \(force)", Sample.task(.deleting)) }
        world.channels.note = { outcome, _ in Sample.channel(outcome.change == .deleted ? .deleted : .active) }
        world.reconciliations.start = { _ in
            ReconciliationRun(id: Sample.id, address: Sample.address, startedAt: Samples.now, failures: 0)
        }
        world.reconciliations.compare = { _ in LedgerSnapshot(entries: [], unmanaged: [], listedAt: Samples.now) }
        world.reconciliations.hold = {}
        world.reconciliations.end = { try ask("reconciled \($0.applied)", ()) }
        return world
    }

    private static let newKey = [
        ("name", "TV"), ("scope", "lookup"), ("scope", "organise"),
        ("bundleIds", "com.example.Stadium, com.example.Other"), ("expiresAt", "2027-01-01T12:00"),
    ]
    private static let newEvent = [
        ("key", "final"), ("name", "Final"), ("audiences", "com.example.Stadium production noMessageStored"),
    ]
    private static let appFields = [
        ("name", "A"), ("teamId", "TEAM123456"), ("keyId", "KEY1234567"), ("etag", "\"3\""),
    ]

    /// The address of a form, its fields, the scope that it needs, and the call.
    private static let forms: [(String, [(String, String)], String, String)] = [
        ("events/derby/send", [("contentState", "{}")], "organise", "send update"),
        ("events/derby/send", [("event", "state"), ("contentState", "{}")], "organise", "state derby"),
        ("events/derby/preview", [("contentState", "{}")], "organise", "preview update"),
        ("events/derby/broadcasts/\(id)/withdraw", [], "organise", "withdraw \(id)"),
        ("events/derby/cancel", [("end", "true")], "organise", "cancel derby true"),
        ("events/derby/cancel", [("end", "false")], "organise", "cancel derby false"),
        ("events/derby/reopen", [], "organise", "reopen derby"),
        ("events/derby/start", [], "organise", "start derby"),
        ("events/derby/stop", [], "organise", "stop derby"),
        (
            "events/derby/move", [("startsAt", "2026-11-28T14:30"), ("endsAt", ""), ("version", "7")], "organise",
            "put derby 2026-11-28T14:30:00.000Z - \(WriteCondition.versions([7]))"
        ),
        ("declare", newEvent, "organise", "put final - - \(WriteCondition.absent)"),
        (app, appFields, "admin", "put A \(WriteCondition.versions([3]))"),
        (app + "/delete", [], "admin", "remove com.example.Stadium"),
        ("keys", newKey, "admin", "create key true"),
        ("keys/\(id)/revoke", [], "admin", "revoke false"),
        ("keys/\(id)/revoke", [("disableWebhooks", "true")], "admin", "revoke true"),
        ("keys/\(id)/rotate", [("overlapSeconds", "60")], "admin", "rotate 60"),
        ("webhooks/\(id)/pause", [], "organise", "put webhook false \(WriteCondition.versions([5]))"),
        ("webhooks/\(id)/resume", [], "organise", "put webhook true \(WriteCondition.versions([5]))"),
        ("webhooks/\(id)/secret", [("overlapSeconds", "60")], "organise", "rotate secret 60"),
        ("webhooks/\(id)/test", [], "organise", "test"),
        ("webhooks/\(id)/delete", [], "organise", "delete webhook"),
        ("webhooks/\(id)/deliveries/\(id)/replay", [], "organise", "replay"),
        (channels + "/create", [("storagePolicy", "noMessageStored")], "operate", "create noMessageStored"),
        (channels + "/import", [("channelId", "abc==")], "operate", "read abc==, import abc=="),
        (channels + "/\(id)/verify", [], "operate", "read abc=="),
        (channels + "/\(id)/delete", [], "operate", "delete channel false"),
        (channels + "/\(id)/force-delete", [], "operate", "delete channel true"),
        (runs + "look", [], "operate", "reconciled false"),
        (runs + "apply", [], "operate", "reconciled true"),
        (runs + "delete-unmanaged", [], "operate", "reconciled true"),
    ]

    @Test(arguments: forms)
    func `each form makes its call, and none with another scope, without a token or from another site`(
        path: String, fields: [(String, String)], scope: String, calls: String
    ) async throws {
        let asked = Asked()
        let world = try Self.world(asked)
        let (path, fields) = ("/console/" + path, fields + [("currentKey", scope)])
        let answer = try await world.submit(path, fields, as: scope)
        #expect([200, 303].contains(answer.status), "\(answer.body)")
        #expect(asked.lines.joined(separator: ", ") == calls)
        #expect(try await world.submit(path, fields, as: "lookup").status == 403)
        let session = world.session(scope)
        #expect(try await world.post(path, fields, in: session).status == 403)
        let token = ("token", FormToken.text(for: session, now: world.now()))
        let site = ["Sec-Fetch-Site": "cross-site"]
        #expect(try await world.post(path, fields + [token], in: session, headers: site).status == 403)
        #expect(asked.lines.joined(separator: ", ") == calls)
    }

    @Test(arguments: [
        app + "/delete", channels + "/\(id)/delete", channels + "/\(id)/force-delete", "keys/\(id)/revoke",
        "keys/\(id)/rotate", "webhooks/\(id)/secret", "webhooks/\(id)/delete", runs + "delete-unmanaged",
        runs + "recreate",
    ])
    func `a form whose action cannot be undone does nothing without the key`(path: String) async throws {
        let asked = Asked()
        let answer = try await Self.world(asked).submit("/console/" + path)
        #expect(answer.status == 422 && answer.body.contains("The key is missing"))
        #expect(asked.lines.isEmpty)
    }

    @Test func `a manual reconciliation does what its button says`() {
        let limits = ReconciliationLimits(grace: 60, deleteBudget: 7)
        #expect(
            Reconciling.allCases.map { $0.options(within: limits) } == [
                ReconciliationOptions(apply: false, grace: 60, deleteBudget: 7),
                ReconciliationOptions(apply: true, grace: 60, deleteBudget: 7),
                ReconciliationOptions(apply: true, adopt: true, grace: 60, deleteBudget: 7),
                ReconciliationOptions(apply: true, deleteUnmanaged: true, grace: 60, deleteBudget: 7),
                ReconciliationOptions(apply: true, recreate: true, grace: 60, deleteBudget: 7),
            ])
    }

    @Test(arguments: [Webhook.State.enabled, .disabled])
    func `a revoked key's page can disable the webhooks that the key declared, if they are enabled`(
        state: Webhook.State
    ) async throws {
        var key = Self.key
        key.revokedAt = Samples.now
        var webhook = Sample.webhook()
        (webhook.state, webhook.draft.isEnabled) = (state, state == .enabled)
        var world = ConsoleWorld()
        world.ledger.find = { [key] _ in KeyListing(key: key, lastUsedAt: nil) }
        world.webhooks.list = { [webhook] filter, _ in
            guard filter.declaredBy == Sample.id else { throw Unasked() }
            return Page(items: [webhook], nextCursor: nil)
        }
        let page = try await world.get("/console/keys/\(Self.id)")
        #expect(page.body.contains(#"name="disableWebhooks" value="true""#) == (state == .enabled))
    }

    @Test func `an app keeps its templates if a form has no fields for them`() async throws {
        let taken = Mutex<[AppPreview?]>([])
        var app = Sample.app()
        app.preview = AppPreview(compact: "{{home}}")
        var world = ConsoleWorld()
        world.apps.find = { [app] _ in app }
        world.apps.save = { app, _ in
            taken.withLock { $0.append(app.preview) }
            return (app, created: false)
        }
        for more in [[], [("preview.compact", ""), ("preview.expanded", "y")], [("preview.compact", "")]] {
            _ = try await world.submit("/console/" + Self.app, Self.appFields + more)
        }
        #expect(taken.withLock(\.self) == [AppPreview(compact: "{{home}}"), AppPreview(expanded: "y"), nil])
    }
}
