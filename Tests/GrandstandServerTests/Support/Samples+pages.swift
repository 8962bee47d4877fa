internal import APNsWire
internal import Foundation
internal import Grandstand
internal import GrandstandContract
internal import JSON

@testable internal import GrandstandServer

extension Samples {
    /// Every page, with an entry in each of its lists.
    func pages() async throws -> [any ConsolePage] {
        [
            SignIn(returningTo: "/console/events?state=live", fault: text),
            ResourcePage(Problem(.forbidden, titled: text, text), requestID: "1a2b"),
            ResourcePage(
                Problem.invalid(text, at: text, text),
                PageRoute.Form(isIrreversible: true),
                FormFields(entries: [(text, text), ("long", text + "\n")]),
                path: "/console/test", back: "/console"),
            overview([quota()]),
            EventList(
                [row], next: "next", EventFilter(state: .live, kind: text, bundleID: bundleID, part: text),
                visit("/console/events", query: "cursor=x")),
            try match(),
            ResourcePage(text, secret: text, for: text, warnings: [text], next: "/console/keys/1"),
            EventDetail(
                contents(event(), [try message([]), try message([])]), visit("/console/events/derby"),
                composer: Composer(event(), MessageForm(try request(), isWhole: false, now: Self.now))),
        ] + (try await resourcePages())
    }

    /// The pages of all resources, with the answers of the API's operations.
    func resourcePages() async throws -> [any ConsolePage] {
        let answers = try answers()
        var pages: [any ConsolePage] = []
        for route in Resource.all.flatMap({ ResourcePages(resource: $0).routes }) where route.form == nil {
            for query in ["cursor=x&state=failed&from=2026-11-21", "managed=false"] {
                var visit = visit(route.path, query: query)
                visit.perform = { call in
                    guard let bytes = answers[call.operation.id] else { throw NotScripted() }
                    return .json(bytes: bytes, headers: .version(1))
                }
                if case .page(let page, _) = try await route.handler(visit) { pages.append(page) }
            }
        }
        return pages
    }

    /// What the API answers, by operation.
    private func answers() throws -> [String: [UInt8]] {
        func list(_ item: some Codable & Hashable & Sendable) -> [UInt8] {
            JSONWriter.text(Contract.Page(items: [item], nextCursor: "next"))
        }
        var app = registered()
        app.preview = .init(compact: text, expanded: "x")
        app.credentials = ["production": .unreadable]
        app.quirks = [
            .init(
                environment: .production, quirk: .managementPath, value: .lowercased, learnedAt: Self.now,
                evidence: text)
        ]
        let message = Contract.WebhookDeliveryLog(
            message: RawJSON(unchecked: #"{"text": \#(quoted)}"#.utf8),
            log: [Contract.WebhookAttempt(attempt: 1, at: Self.now, milliseconds: 12, status: 503, reason: text)],
            webhookDelivery)
        return [
            "listApps": list(app), "getApp": JSONWriter.text(app), "listContents": list(try contentType()),
            "listChannels": list(Contract.Channel(channel())),
            "getChannel": JSONWriter.text(Contract.Channel(channel())),
            "listReconciliations": list(report()),
            "getReconciliation": JSONWriter.text(report(alarm: .capabilityOff, found: 201)),
            "listAuditLog": list(entry()), "listKeys": list(shownKey), "getKey": JSONWriter.text(shownKey),
            "listWebhooks": list(webhook), "getWebhook": JSONWriter.text(webhook),
            "listWebhookDeliveries": list(webhookDelivery), "getWebhookDelivery": JSONWriter.text(message),
            "getEvent": JSONWriter.text(event()),
            "startEvent": Array(#"{"counts": {"followers": 2, "pending": 1}}"#.utf8),
        ]
    }

    /// A live event as a line.
    private var row: EventRow {
        EventRow(event(), ContentLine(Array(#"{"home": 1}"#.utf8), nil, since: Array("{}".utf8)))
    }

    /// The overview, with an entry in each of its parts.
    func overview(_ quotas: [Quota]) -> Overview {
        let sample = Contract.QuotaSample(
            bundleId: bundleID.rawValue, environment: .production, at: Self.now.addingTimeInterval(-300), used: 5,
            reserved: 0,
            peak: 5, limit: 100, created: 1, deleted: 0)
        return Overview(
            quotas, live: [row],
            Figure.all(
                ConsoleActivity(messages: 1_200, oldestWaiting: Self.now.addingTimeInterval(-30)),
                .init(development: .init(state: .unreachable, reason: text), production: .init(state: .reachable)),
                now: Self.now),
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
        return Frame(
            visitor: visitor, refresh: refresh, notice: text,
            madeAt: Moment(Self.now, exact: true))
    }
}

extension Table {
    /// The texts of a column, row by row.
    func texts(_ label: String) -> [String] {
        rows.map { row in
            (row.cells.first { $0.label == label }?.pieces ?? []).map(\.text).joined(separator: " ")
        }
    }
}

extension Piece {
    /// The text that the page shows.
    var text: String {
        switch value {
        case let link as Link: link.moment?.text ?? link.label
        case let moment as Moment: moment.text
        case let level as Level: level.text
        case let bar as Bar: bar.barText
        default: value as? String ?? ""
        }
    }
}
