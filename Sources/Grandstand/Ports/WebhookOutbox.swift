package import FoundationEssentials

/// The durable queue of messages to webhooks. The facts of a message are recorded in the transaction of the change that
/// it reports. A claimed message is posted, is tried again over days, and is given up in the end.
package protocol WebhookOutbox: Sendable {
    /// Writes the messages for the notes that were recorded since the last call. A note has a fact, or it names a
    /// broadcast of which a delivery was settled. Whether all deliveries of such a broadcast are settled is checked
    /// here, because this is certain only after a commit.
    ///
    /// - Returns: the number of notes that were processed. If it is less than `limit`, none is left.
    func compose(now: Date, limit: Int) async throws -> Int

    /// Leases messages that are due. Apps with the fewest messages under way come first, then the messages that are due
    /// longest.
    func claim(_ claim: WebhookClaim) async throws -> [ClaimedWebhook]

    /// Sets the end of this replica's leases on these messages to `until`, because the replica still posts them.
    /// Messages that another transaction has locked are skipped.
    func extendLeases(of deliveries: [UUID], replica: UUID, until: Date) async throws

    /// Records a verdict. If another replica has the lease by now, nothing changes. A webhook that wants no more
    /// messages, or failed for `Webhook.patience`, is disabled.
    func settle(_ settlement: WebhookSettlement, replica: UUID, now: Date) async throws

    /// Ends the leases of messages that were not posted. The attempt does not count.
    func release(_ deliveries: [UUID], replica: UUID, now: Date) async throws

    /// When the next message is due; `nil`: none waits.
    func nextDue() async throws -> Date?
}

/// A dispatcher's claim of messages for webhooks.
package struct WebhookClaim: Sendable, Hashable {
    package var replica: UUID
    package var at: Date
    package var leasedUntil: Date
    /// The most messages to lease.
    package var limit: Int
    /// The most messages of one webhook that may be under way at a time. If the last message of a webhook failed, only
    /// one may be under way.
    package var perWebhook: Int
    /// The most messages that may be under way at a time for all webhooks with the same set of apps together. So
    /// receivers that do not answer cannot delay the messages of other apps.
    package var perApp: Int
    /// Webhooks whose receivers do not answer. None of their messages is claimed, except test messages and replays,
    /// which people requested.
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
    /// The ID of the delivery.
    package var id: UUID
    package var webhook: UUID
    package var message: UUID
    package var topic: WebhookTopic
    package var url: WebhookURL
    /// The secrets, the current one first.
    package var secrets: [WebhookSecret]
    package var body: [UInt8]
    /// Attempts since the message was queued or last replayed, including the next one.
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
    /// When the attempt began.
    package var startedAt: Date
    /// How long the attempt took.
    package var milliseconds: Int

    package init(delivery: UUID, verdict: WebhookVerdict, startedAt: Date, milliseconds: Int) {
        self.delivery = delivery
        self.verdict = verdict
        self.startedAt = startedAt
        self.milliseconds = milliseconds
    }
}
