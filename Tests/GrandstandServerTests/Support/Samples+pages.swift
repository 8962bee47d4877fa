internal import APNsWire
internal import Foundation
internal import Grandstand
internal import GrandstandContract
internal import JSON

@testable internal import GrandstandServer

extension Samples {
    /// Every page, with an entry in each of its lists.
    func pages() throws -> [any ConsolePage] {
        let reading = report()
        let alarmed = report(alarm: .capabilityOff, found: 201)
        var previewed = registered()
        previewed.preview = .init(compact: text, expanded: "x")
        previewed.credentials = ["production": .unreadable]
        previewed.quirks = [
            .init(
                environment: .production, quirk: .managementPath, value: .lowercased, learnedAt: Self.now,
                evidence: text)
        ]
        return [
            SignIn(returningTo: "/console/events?state=live", fault: text),
            ProblemPage(APIProblem(status: 403, title: text, detail: text), requestID: "1a2b"),
            RefusedForm(
                APIProblem(status: 422, title: text, detail: text, faults: [.init(pointer: text, detail: text)]),
                ActionRoute("/test", .admin, irreversible: true) { _ in throw NotScripted() },
                FormFields([.init(name: text, value: text), .init(name: "long", value: text + "\n")]),
                path: "/console/test", back: "/console"),
            overview([quota()]),
            EventList(
                Page(items: [event()], nextCursor: "next"), EventFilter(state: .live, kind: text, bundleID: bundleID),
                visit("/console/events", query: "cursor=x")),
            try match(),
            AppList(Contract.AppPage(items: [previewed], nextCursor: "next"), visit("/console/apps")),
            AppDetail(
                Versioned(value: previewed, version: 1), bundleID: bundleID, contents: [try contentType()],
                visit("/console/apps/com.example.Stadium")),
            ChannelList(
                app, Page(items: [channel()], nextCursor: "next"), ChannelFilter(state: .failed, eventKey: key),
                visit("/console/apps/com.example.Stadium/production/channels")),
            ChannelList(
                app,
                unmanaged: Page(items: [UnmanagedChannel(channelID: text, firstSeenAt: Self.now)], nextCursor: nil),
                visit("/console/apps/com.example.Stadium/production/channels", query: "managed=false")),
            ReconciliationList(
                app, Contract.Page(items: [reading, alarmed], nextCursor: "next"), visit("/console")),
            ReconciliationDetail(reading, app), ReconciliationDetail(alarmed, app),
            AuditTrail(
                Contract.Page(items: [entry()], nextCursor: "next"), AuditFilter(actor: text, action: .keyCreated),
                visit("/console/audit-log", query: "from=2026-11-21")),
            KeyList(Contract.Page(items: [shownKey], nextCursor: "n"), visit("/console/keys")),
            KeyDetail(shownKey, [webhook], visit("/console/keys/1")),
            IssuedSecret(title: text, secret: text, warnings: [text], purpose: text, href: "/console/keys/1"),
            WebhookList(Contract.Page(items: [webhook], nextCursor: "n"), visit("/console/webhooks")),
            WebhookDetail(
                Versioned(value: webhook, version: 1),
                Contract.Page(items: [webhookDelivery], nextCursor: "n"),
                visit("/console/webhooks/1")),
            WebhookDeliveryDetail(
                Contract.WebhookDeliveryLog(
                    message: RawJSON(unchecked: #"{"text": \#(quoted)}"#.utf8),
                    log: [
                        Contract.WebhookAttempt(attempt: 1, at: Self.now, milliseconds: 12, status: 503, reason: text)
                    ],
                    webhookDelivery), webhook: "1"),
        ] + (try organisersPages())
    }

    /// The overview, with an entry in each of its parts.
    func overview(_ quotas: [Quota]) -> Overview {
        let sample = Contract.QuotaSample(
            bundleId: bundleID.rawValue, environment: .production, at: Self.now.addingTimeInterval(-300), used: 5,
            reserved: 0,
            peak: 5, limit: 100, created: 1, deleted: 0)
        return Overview(
            quotas, live: Page(items: [event()], nextCursor: "n"),
            ConsoleActivity(
                messages: 1_200, oldestWaiting: Self.now.addingTimeInterval(-30),
                apple: [.init(environment: .production, word: "unreachable", detail: text, isFine: false)]),
            samples: [sample], span: .day, visit())
    }

    /// `text` as a JSON string.
    private var quoted: String {
        var json = JSONWriter()
        json.string(text)
        return String(decoding: json.bytes, as: UTF8.self)
    }

    private var shownKey: Contract.Key {
        Contract.Key(
            id: "1", name: text, scopes: [.operate], bundleIds: ["a.b"], prefix: "gs_", state: .active,
            createdAt: Self.now, expiresAt: Self.now, revokedAt: Self.now, lastUsedAt: Self.now)
    }

    private var webhook: Contract.Webhook {
        Contract.Webhook(
            id: "1", url: text, description: text, topics: [.init(rawValue: "quota.level")], bundleIds: ["a.b"],
            enabled: false, reason: text, failingSince: Self.now, previousSecretUntil: Self.now, createdAt: Self.now,
            updatedAt: Self.now)
    }

    private var webhookDelivery: Contract.WebhookDelivery {
        Contract.WebhookDelivery(
            id: "1", messageId: "msg_1", topic: .quotaLevel, state: .failed, attempts: 2, status: 503, reason: text,
            createdAt: Self.now, nextAttemptAt: Self.now, settledAt: Self.now)
    }

    /// The frame of a page, with everything that it can contain.
    func frame(_ page: any ConsolePage, bound: Bool = true) -> Frame {
        let visitor = Visitor(key: apiKey(bound: bound), path: "/console/events/derby")
        let refresh = Refresh(
            seconds: page.refresh ?? 60, path: "/console/events", query: "state=live", isOff: false)
        return Frame(page: page, visitor: visitor, refresh: refresh, notice: text, now: Self.now)
    }
}
