internal import Grandstand

/// The webhooks a key may see, and the form for another.
struct WebhookList: ConsolePage {
    var template: TemplateName { .webhooks }
    let title = "Webhooks"
    let rows: [WebhookRow]
    let form: WebhookForm
    let pager: Pager

    init(_ page: JSONValue, _ visit: Visit) {
        rows = page.items("items").map(WebhookRow.init)
        form = WebhookForm(nil, etag: nil, visit)
        pager = Pager(visit, nextCursor: page["nextCursor"]?.string)
    }
}

struct WebhookRow: Sendable {
    let url: String
    let href: String
    let description: String
    let topics: String
    let apps: String
    let isOn: Bool
    /// Why the server turned it off.
    let reason: String?
    let failingSince: Moment?
    let updatedAt: Moment?

    init(_ webhook: JSONValue) {
        url = webhook.text("url")
        href = ConsolePath.webhook(webhook.text("id"))
        description = webhook.text("description")
        topics = webhook.texts("topics").joined(separator: ", ")
        let bound = webhook.texts("bundleIds")
        apps = bound.isEmpty ? "all" : bound.joined(separator: ", ")
        isOn = webhook.flag("enabled")
        reason = webhook["reason"]?.string
        failingSince = webhook.moment("failingSince")
        updatedAt = webhook.moment("updatedAt")
    }
}

/// What is said of a webhook: to be typed, or as it stands.
struct WebhookForm: Sendable {
    let url: String
    let description: String
    let topics: [Check]
    let bundleIDs: String
    /// `true`, `false`: changing it does not turn it on or off.
    let enabled: String
    let version: String?

    /// - Parameter webhook: `nil`: a new one.
    init(_ webhook: JSONValue?, etag: String?, _ visit: Visit) {
        url = webhook?.text("url") ?? ""
        description = webhook?.text("description") ?? ""
        let chosen = Set(webhook?.texts("topics") ?? [])
        topics = WebhookTopic.subscribable.filter { visit.key.hears($0) || chosen.contains($0.rawValue) }.map { topic in
            Check(value: topic.rawValue, hint: "", isTicked: chosen.contains(topic.rawValue))
        }
        bundleIDs = (webhook?.texts("bundleIds") ?? visit.key.reach.apps?.map(\.rawValue) ?? [])
            .joined(separator: ", ")
        enabled = webhook?.flag("enabled") == false ? "false" : "true"
        version = etag
    }
}

/// One webhook with its newest deliveries.
struct WebhookDetail: ConsolePage {
    var template: TemplateName { .webhook }
    let title: String
    var refresh: Int? { 10 }
    let webhook: WebhookRow
    let previousSecretUntil: Moment?
    let form: WebhookForm
    let deliveries: [WebhookDeliveryRow]
    let states: [Choice]
    let overlaps = Overlap.all
    let pager: Pager

    init(_ json: JSONValue, etag: String?, _ log: JSONValue, _ visit: Visit) {
        webhook = WebhookRow(json)
        title = "Webhook \(json.text("url"))"
        previousSecretUntil = json.moment("previousSecretUntil")
        form = WebhookForm(json, etag: etag, visit)
        deliveries = log.items("items").map { WebhookDeliveryRow($0, of: json.text("id")) }
        states = Choice.all(
            WebhookDelivery.State.self, chosen: visit.query["state"].flatMap(WebhookDelivery.State.init))
        pager = Pager(
            visit, query: ["state", "topic"].map { (name: $0, value: visit.query[$0]) },
            nextCursor: log["nextCursor"]?.string)
    }
}

struct WebhookDeliveryRow: Sendable {
    let href: String
    let topic: String
    let state: String
    let attempts: Int
    let answer: String
    let createdAt: Moment?
    let nextAttemptAt: Moment?
    let settledAt: Moment?

    init(_ delivery: JSONValue, of webhook: String) {
        href = ConsolePath.webhookDelivery(delivery.text("id"), of: webhook)
        topic = delivery.text("topic")
        state = delivery.text("state")
        attempts = delivery.integer("attempts")
        answer = Self.answer(delivery)
        createdAt = delivery.moment("createdAt")
        nextAttemptAt = delivery.moment("nextAttemptAt")
        settledAt = delivery.moment("settledAt")
    }

    /// `503 slow down`
    static func answer(_ json: JSONValue) -> String {
        let status = json["status"]?.kind == nil || json.integer("status") == 0 ? "" : String(json.integer("status"))
        return [status, json.text("reason")].filter { !$0.isEmpty }.joined(separator: " ")
    }
}

/// One message to one webhook: what was posted, and each try.
struct WebhookDeliveryDetail: ConsolePage {
    struct Attempt: Sendable {
        let number: Int
        let at: Moment?
        let milliseconds: String
        let answer: String
    }

    var template: TemplateName { .webhookDelivery }
    let title: String
    let delivery: WebhookDeliveryRow
    let messageID: String
    let message: String
    let attempts: [Attempt]
    let webhookHref: String
    let replayAction: String

    init(_ json: JSONValue, webhook: String) {
        delivery = WebhookDeliveryRow(json, of: webhook)
        title = "Message \(delivery.topic)"
        messageID = json.text("messageId")
        message = json["message"].map { String(decoding: $0.bytes, as: UTF8.self) } ?? ""
        attempts = json.items("log").map { attempt in
            Attempt(
                number: attempt.integer("attempt"), at: attempt.moment("at"),
                milliseconds: Wording.number(attempt.integer("milliseconds")) + " ms",
                answer: WebhookDeliveryRow.answer(attempt))
        }
        webhookHref = ConsolePath.webhook(webhook)
        replayAction = delivery.href + "/replay"
    }
}
