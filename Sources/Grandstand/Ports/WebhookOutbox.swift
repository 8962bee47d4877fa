package import FoundationEssentials

/// The durable way of messages to webhooks. Their facts are noted in the transaction of the change; a message that is
/// claimed here is posted, tried again over days, and given up at last.
package protocol WebhookOutbox: Sendable {
    /// Writes the messages of what was noted since the last call: of facts as they were then, and of broadcasts that are
    /// settled, for only after a commit it is known that none of their deliveries is left.
    ///
    /// - Returns: how many notes were looked at; fewer than `limit`: none is left.
    func compose(now: Date, limit: Int) async throws -> Int

    /// Leases messages whose time has come: first for the apps with the fewest messages under way, then the longest due.
    func claim(_ claim: WebhookClaim) async throws -> [ClaimedWebhook]

    /// A replica that is still posting these messages keeps them until `until`. One that somebody else has locked is left
    /// out.
    func extendLeases(of deliveries: [UUID], replica: UUID, until: Date) async throws

    /// Records a verdict. One whose lease has gone to another replica changes nothing. A webhook that wants nothing
    /// more, or failed for `Webhook.patience`, is disabled.
    func settle(_ settlement: WebhookSettlement, replica: UUID, now: Date) async throws

    /// Gives messages back unsent, uncharged.
    func release(_ deliveries: [UUID], replica: UUID, now: Date) async throws

    /// When the next message will be due; `nil`: none waits.
    func nextDue() async throws -> Date?
}

/// A dispatcher's claim of messages for webhooks.
package struct WebhookClaim: Sendable, Hashable {
    package var replica: UUID
    package var at: Date
    package var leasedUntil: Date
    /// The most messages to lease.
    package var limit: Int
    /// How many messages of one webhook may be under way at a time. A webhook whose last message failed gets one.
    package var perWebhook: Int
    /// How many messages may be under way at a time for all webhooks of the same apps: receivers that do not answer
    /// leave the other apps' places free.
    package var perApp: Int
    /// Webhooks whose receivers do not answer: nothing of theirs goes, but what people ask for.
    package var avoiding: [UUID] = []

    package init(replica: UUID, at: Date, leasedUntil: Date, limit: Int, perWebhook: Int, perApp: Int) {
        self.replica = replica
        self.at = at
        self.leasedUntil = leasedUntil
        self.limit = limit
        self.perWebhook = perWebhook
        self.perApp = perApp
    }
}

/// A leased message, ready to be posted.
package struct ClaimedWebhook: Sendable, Hashable {
    /// The delivery.
    package var id: UUID
    package var webhook: UUID
    package var message: UUID
    package var topic: WebhookTopic
    package var url: WebhookURL
    /// The current one first.
    package var secrets: [WebhookSecret]
    package var body: [UInt8]
    /// Tries of this round, the one to come included.
    package var tries: Int

    package init(
        id: UUID, webhook: UUID, message: UUID, topic: WebhookTopic, url: WebhookURL, secrets: [WebhookSecret],
        body: [UInt8], tries: Int
    ) {
        self.id = id
        self.webhook = webhook
        self.message = message
        self.topic = topic
        self.url = url
        self.secrets = secrets
        self.body = body
        self.tries = tries
    }
}

/// A verdict on a claimed message.
package struct WebhookSettlement: Sendable, Hashable {
    package var delivery: UUID
    package var verdict: WebhookVerdict
    /// When the try began.
    package var startedAt: Date
    /// How long it took.
    package var milliseconds: Int

    package init(delivery: UUID, verdict: WebhookVerdict, startedAt: Date, milliseconds: Int) {
        self.delivery = delivery
        self.verdict = verdict
        self.startedAt = startedAt
        self.milliseconds = milliseconds
    }
}
