internal import APNsWire
internal import Foundation
internal import Grandstand
internal import JSON
internal import PortFakes

@testable internal import GrandstandConsole

extension Samples {
    /// Every page there is, with something in each of its lists.
    func pages() throws -> [any ConsolePage] {
        let reading = try ReconciliationReading(try report())
        let alarmed = try ReconciliationReading(try report(alarm: .capabilityOff, found: 201))
        return [
            SignIn(returningTo: "/console/events?state=live", fault: text),
            ProblemPage(APIProblem(status: 403, title: text, detail: text), requestID: "1a2b"),
            RefusedForm(
                APIProblem(status: 422, title: text, detail: text, faults: [.init(pointer: text, detail: text)]),
                ActionRoute("/test", .admin, irreversible: true) { _ in throw Unasked() },
                FormFields([.init(name: text, value: text), .init(name: "long", value: text + "\n")]),
                path: "/console/test", back: "/console"),
            overview([quota()]),
            EventList(
                Page(items: [event()], nextCursor: "next"), EventFilter(state: .live, kind: text, bundleID: bundleID),
                visit("/console/events", query: "cursor=x")),
            try match(),
            AppList(
                [(registered(), [.development: .ok])], nextCursor: "next", visit("/console/apps")),
            AppDetail(
                registered(), keyFiles: [.production: .unreadable],
                quirks: [
                    Quirk(
                        environment: .production, name: .managementPath, value: "lowercased", learnedAt: Self.now,
                        evidence: text)
                ],
                answer: try JSONValue(parsing: Array(#"{"preview": {"compact": \#(quoted), "expanded": "x"}}"#.utf8)),
                visit("/console/apps/com.example.Stadium")),
            ChannelList(
                app, Page(items: [channel()], nextCursor: "next"), ChannelFilter(state: .failed, eventKey: key),
                visit("/console/apps/com.example.Stadium/production/channels")),
            ChannelList(
                app,
                unmanaged: Page(items: [UnmanagedChannel(channelID: text, firstSeenAt: Self.now)], nextCursor: nil),
                visit("/console/apps/com.example.Stadium/production/channels", query: "managed=false")),
            ReconciliationList(app, [reading, alarmed], nextCursor: "next", visit("/console")),
            ReconciliationDetail(reading, app), ReconciliationDetail(alarmed, app),
            AuditTrail(
                Page(items: [entry()], nextCursor: "next"), AuditFilter(actor: text, action: .keyCreated),
                visit("/console/audit-log", query: "from=2026-11-21")),
            KeyList(
                try JSONValue(parsing: Array(#"{"items": [\#(keyJSON)], "nextCursor": "n"}"#.utf8)),
                visit("/console/keys")),
            KeyDetail(try JSONValue(parsing: Array(keyJSON.utf8)), visit("/console/keys/1")),
            IssuedSecret(title: text, secret: text, use: text, href: "/console/keys/1"),
            WebhookList(
                try JSONValue(parsing: Array(#"{"items": [\#(webhook)], "nextCursor": "n"}"#.utf8)),
                visit("/console/webhooks")),
            WebhookDetail(
                try JSONValue(parsing: Array(webhook.utf8)), etag: "\"1\"",
                try JSONValue(parsing: Array(#"{"items": [\#(webhookDelivery)], "nextCursor": "n"}"#.utf8)),
                visit("/console/webhooks/1")),
            WebhookDeliveryDetail(try JSONValue(parsing: Array(webhookDelivery.utf8)), webhook: "1"),
        ] + (try organisersPages())
    }

    /// The overview, with something in each of its parts.
    func overview(_ quotas: [Quota]) -> Overview {
        let sample = QuotaSample(
            bundleID: bundleID, environment: .production, at: Self.now.addingTimeInterval(-300), used: 5, reserved: 0,
            peak: 5, limit: 100, created: 1, deleted: 0)
        return Overview(
            quotas, live: Page(items: [event()], nextCursor: "n"),
            ConsoleActivity(
                messages: 1_200, oldestWaiting: Self.now.addingTimeInterval(-30),
                apple: [.init(environment: .production, word: "unreachable", detail: text, isFine: false)]),
            samples: [sample], span: .day, visit())
    }

    /// `text` as JSON has it.
    private var quoted: String {
        var json = JSONWriter()
        json.string(text)
        return String(decoding: json.bytes, as: UTF8.self)
    }

    private var keyJSON: String {
        let time = RFC3339.text(Self.now)
        return #"{"id": "1", "name": \#(quoted), "scopes": ["operate"], "bundleIds": ["a.b"], "prefix": "gs_", "#
            + #""state": "active", "createdAt": "\#(time)", "expiresAt": "\#(time)", "revokedAt": "\#(time)", "#
            + #""replacedBy": null, "lastUsedAt": "\#(time)"}"#
    }

    private var webhook: String {
        let time = RFC3339.text(Self.now)
        return #"{"id": "1", "url": \#(quoted), "description": \#(quoted), "topics": ["quota.level"], "#
            + #""bundleIds": ["a.b"], "enabled": false, "reason": \#(quoted), "failingSince": "\#(time)", "#
            + #""updatedAt": "\#(time)", "previousSecretUntil": "\#(time)"}"#
    }

    private var webhookDelivery: String {
        let time = RFC3339.text(Self.now)
        return #"{"id": "2", "messageId": "msg_1", "topic": "quota.level", "state": "failed", "attempts": 2, "#
            + #""status": 503, "reason": \#(quoted), "createdAt": "\#(time)", "nextAttemptAt": "\#(time)", "#
            + #""settledAt": "\#(time)", "message": {"text": \#(quoted)}, "#
            + #""log": [{"attempt": 1, "at": "\#(time)", "milliseconds": 12, "status": 503, "reason": \#(quoted)}]}"#
    }

    /// The frame of a page, with everything it may have.
    func frame(_ page: any ConsolePage, bound: Bool = true) -> Frame {
        let visitor = Visitor(key: apiKey(bound: bound), path: "/console/events/derby")
        let refresh = Refresh(
            seconds: page.refresh ?? 60, path: "/console/events", query: "state=live", isOff: false)
        return Frame(page: page, visitor: visitor, refresh: refresh, notice: text, now: Self.now)
    }
}
