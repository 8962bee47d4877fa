internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract

/// The webhooks that a key may see, and the form for a new one.
struct WebhookList: ConsolePage {
    var template: TemplateName { .webhooks }
    let title = "Webhooks"
    let webhooks: Table
    let form: WebhookForm
    let pager: Pager

    init(_ page: Contract.Page<Contract.Webhook>, _ visit: Visit) {
        webhooks = Table(
            "Where messages are posted", nothing: "There is no webhook within your reach.", page.items,
            [
                Column("URL") { [.link($0.url, ConsolePath.webhook($0.id))] },
                Column("Description") { [.quoted($0.description ?? "")] },
                Column("Topics") { [.words($0.topics.map(\.rawValue).joined(separator: ", "))] },
                Column("Apps") { [.quoted(Wording.apps($0.bundleIds))] }, Column("State") { Self.state($0) },
                Column("Failing since") { [.moment($0.failingSince)] },
            ])
        form = WebhookForm(nil, visit)
        pager = Pager(visit, nextCursor: page.nextCursor)
    }

    /// Whether the webhook is on, or paused with the server's reason.
    static func state(_ webhook: Contract.Webhook) -> [Piece] {
        webhook.enabled ? [.level("ok", "on")] : [.level("warning", "paused"), .quoted(webhook.reason ?? "")]
    }
}

/// The fields of a webhook's form, empty or with its present values.
struct WebhookForm: Sendable {
    let url: String
    let description: String
    let topics: [Choice]
    let bundleIDs: String
    /// `true` or `false`. The form sends this value unchanged, so that a change of other values does not turn the
    /// webhook on or off.
    let enabled: String
    let version: String?

    /// - Parameter versioned: the webhook to change; `nil`: the form is for a new webhook.
    init(_ versioned: Versioned<Contract.Webhook>?, _ visit: Visit) {
        let webhook = versioned?.value
        url = webhook?.url ?? ""
        description = webhook?.description ?? ""
        let chosen = Set(webhook?.topics ?? [])
        topics = Contract.WebhookTopic.allCases.filter { visit.key.hears($0) || chosen.contains($0) }.map { topic in
            Choice(topic.rawValue, isChosen: chosen.contains(topic))
        }
        bundleIDs = (webhook.map { $0.bundleIds ?? [] } ?? visit.key.reach.apps?.map(\.rawValue) ?? [])
            .joined(separator: ", ")
        enabled = webhook?.enabled == false ? "false" : "true"
        version = versioned.map { VersionTag.text($0.version) }
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
    let oldSecretLifetimes = Choice.oldSecretLifetimes
    let pager: Pager

    init(_ versioned: Versioned<Contract.Webhook>, _ log: Contract.Page<Contract.WebhookDelivery>, _ visit: Visit) {
        let webhook = versioned.value
        webhookHref = ConsolePath.webhook(webhook.id)
        isOn = webhook.enabled
        title = "Webhook \(webhook.url)"
        facts =
            [
                Fact("State", WebhookList.state(webhook)), Fact("Failing since", .moment(webhook.failingSince)),
                Fact("Topics", .words(webhook.topics.map(\.rawValue).joined(separator: ", "))),
                Fact("Apps", .quoted(Wording.apps(webhook.bundleIds))),
                Fact("Signed with the old secret, too, until", .moment(webhook.previousSecretUntil)),
                Fact("Changed", .moment(webhook.updatedAt)),
            ].nonEmpty
        form = WebhookForm(versioned, visit)
        deliveries = Self.table(log.items, of: webhook.id)
        states = Choice.all(
            Contract.WebhookDeliveryState.self,
            chosen: visit.query["state"].map(Contract.WebhookDeliveryState.init(rawValue:)))
        pager = Pager(
            visit, query: ["state", "topic"].map { (name: $0, value: visit.query[$0]) },
            nextCursor: log.nextCursor)
    }

    private static func table(_ deliveries: [Contract.WebhookDelivery], of webhook: String) -> Table {
        Table(
            "Messages of this webhook, the newest first", nothing: "No message fits.", deliveries,
            [
                Column("Written") { delivery in
                    [.link(Moment(delivery.createdAt), ConsolePath.webhookDelivery(delivery.id, of: webhook))]
                }, Column("Topic") { [.words($0.topic.rawValue)] }, Column("State") { [.state($0.state.rawValue)] },
                .number("Tries") { $0.attempts }, Column("Last answer") { [.quoted(answer($0.status, $0.reason))] },
                Column("Next try") { [.moment($0.nextAttemptAt)] }, Column("Settled") { [.moment($0.settledAt)] },
            ])
    }

    /// The receiver's answer as text: `503 slow down`
    static func answer(_ status: Int?, _ reason: String?) -> String {
        [status.map(String.init), reason].compactMap(\.self).joined(separator: " ")
    }
}

/// One message to one webhook, with all attempts.
struct WebhookDeliveryDetail: ConsolePage {
    var template: TemplateName { .webhookDelivery }
    let title: String
    let facts: [Fact]
    let message: String
    let tries: Table
    let webhookHref: String
    let replayAction: String

    init(_ delivery: Contract.WebhookDeliveryLog, webhook: String) {
        title = "Message \(delivery.topic.rawValue)"
        facts = [
            Fact("State", .state(delivery.state.rawValue)), Fact("Message", .code(delivery.messageId)),
            Fact("Written", .moment(delivery.createdAt)),
            Fact("Next try", .moment(delivery.nextAttemptAt, else: "none")),
        ]
        message = delivery.message.description
        tries = Table(
            "Each try, the oldest first", nothing: "None yet.", delivery.log,
            [
                Column("Try") { [.words(String($0.attempt))] }, Column("At") { [.moment($0.at, exact: true)] },
                Column("Took", isNumber: true) { [.words(Wording.number($0.milliseconds) + " ms")] },
                Column("Answer") { [.quoted(WebhookDetail.answer($0.status, $0.reason))] },
            ])
        webhookHref = ConsolePath.webhook(webhook)
        replayAction = ConsolePath.webhookDelivery(delivery.id, of: webhook) + "/replay"
    }
}
