internal import Grandstand
internal import JSON

/// The webhooks a key may see, and the form for another.
struct WebhookList: ConsolePage {
    var template: TemplateName { .webhooks }
    let title = "Webhooks"
    let webhooks: Table
    let form: WebhookForm
    let pager: Pager

    init(_ page: JSONValue, _ visit: Visit) {
        webhooks = Table(
            "Where messages are posted", nothing: "There is no webhook within your reach.", page.items("items"),
            [
                Column("URL") { [.link($0.text("url"), ConsolePath.webhook($0.text("id")))] },
                Column("Description") { [.quoted($0.text("description"))] },
                Column("Topics") { [.words($0.texts("topics").joined(separator: ", "))] },
                Column("Apps") { [.quoted($0.apps)] }, Column("State") { Self.state($0) },
                Column("Failing since") { [.moment($0.moment("failingSince"))] },
            ])
        form = WebhookForm(nil, etag: nil, visit)
        pager = Pager(visit, nextCursor: page["nextCursor"]?.string)
    }

    /// On, or paused and why the server turned it off.
    static func state(_ webhook: JSONValue) -> [Piece] {
        webhook.flag("enabled") ? [.level("ok", "on")] : [.level("warning", "paused"), .quoted(webhook.text("reason"))]
    }
}

/// What is said of a webhook: to be typed, or as it stands.
struct WebhookForm: Sendable {
    let url: String
    let description: String
    let topics: [Choice]
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
            Choice(topic.rawValue, isChosen: chosen.contains(topic.rawValue))
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
    let webhookHref: String
    let isOn: Bool
    let facts: [Fact]
    let form: WebhookForm
    let deliveries: Table
    let states: [Choice]
    let overlaps = Choice.overlaps
    let pager: Pager

    init(_ json: JSONValue, etag: String?, _ log: JSONValue, _ visit: Visit) {
        webhookHref = ConsolePath.webhook(json.text("id"))
        isOn = json.flag("enabled")
        title = "Webhook \(json.text("url"))"
        facts =
            [
                Fact("State", WebhookList.state(json)), Fact("Failing since", .moment(json.moment("failingSince"))),
                Fact("Topics", .words(json.texts("topics").joined(separator: ", "))), Fact("Apps", .quoted(json.apps)),
                Fact("Signed with the old secret, too, until", .moment(json.moment("previousSecretUntil"))),
                Fact("Changed", .moment(json.moment("updatedAt"))),
            ].said
        form = WebhookForm(json, etag: etag, visit)
        deliveries = Self.table(log.items("items"), of: json.text("id"))
        states = Choice.all(
            WebhookDelivery.State.self, chosen: visit.query["state"].flatMap(WebhookDelivery.State.init))
        pager = Pager(
            visit, query: ["state", "topic"].map { (name: $0, value: visit.query[$0]) },
            nextCursor: log["nextCursor"]?.string)
    }

    private static func table(_ deliveries: [JSONValue], of webhook: String) -> Table {
        Table(
            "Messages of this webhook, the newest first", nothing: "No message fits.", deliveries,
            [
                Column("Written") { delivery in
                    [
                        .link(
                            delivery.moment("createdAt"),
                            ConsolePath.webhookDelivery(delivery.text("id"), of: webhook))
                    ]
                }, Column("Topic") { [.words($0.text("topic"))] }, Column("State") { [.state($0.text("state"))] },
                .number("Tries") { $0.integer("attempts") }, Column("Last answer") { [.quoted(answer($0))] },
                Column("Next try") { [.moment($0.moment("nextAttemptAt"))] },
                Column("Settled") { [.moment($0.moment("settledAt"))] },
            ])
    }

    /// `503 slow down`
    static func answer(_ json: JSONValue) -> String {
        let status = json["status"]?.kind == nil || json.integer("status") == 0 ? "" : String(json.integer("status"))
        return [status, json.text("reason")].filter { !$0.isEmpty }.joined(separator: " ")
    }
}

/// One message to one webhook: what was posted, and each try.
struct WebhookDeliveryDetail: ConsolePage {
    var template: TemplateName { .webhookDelivery }
    let title: String
    let facts: [Fact]
    let message: String
    let tries: Table
    let webhookHref: String
    let replayAction: String

    init(_ json: JSONValue, webhook: String) {
        title = "Message \(json.text("topic"))"
        facts = [
            Fact("State", .state(json.text("state"))), Fact("Message", .code(json.text("messageId"))),
            Fact("Written", .moment(json.moment("createdAt"))),
            Fact("Next try", .moment(json.moment("nextAttemptAt"), else: "none")),
        ]
        message = json["message"].map { String(decoding: $0.bytes, as: UTF8.self) } ?? ""
        tries = Table(
            "Each try, the oldest first", nothing: "None yet.", json.items("log"),
            [
                Column("Try") { [.words(String($0.integer("attempt")))] }, Column("At") { [.moment($0.moment("at"))] },
                Column("Took", isNumber: true) { [.words(Wording.number($0.integer("milliseconds")) + " ms")] },
                Column("Answer") { [.quoted(WebhookDetail.answer($0))] },
            ])
        webhookHref = ConsolePath.webhook(webhook)
        replayAction = ConsolePath.webhookDelivery(json.text("id"), of: webhook) + "/replay"
    }
}
