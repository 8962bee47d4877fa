package import FoundationEssentials

/// A destination of messages, and the topics that it subscribes to. It does not contain the secret, which is shown only
/// once.
package struct Webhook: Sendable, Hashable {
    package var id: UUID
    package var draft: WebhookDraft
    package var state: State
    /// Why the server disabled the webhook; `nil` while the webhook is enabled, or when it was disabled by hand.
    package var reason: String?
    /// The time of the first failure since the last success.
    package var failingSince: Date?
    /// Until this time, messages also carry the signature of the previous secret.
    package var previousSecretUntil: Date?
    package var createdAt: Date
    package var updatedAt: Date
    /// Changes with every change of the webhook's declaration, also when the server disables the webhook.
    package var version: Int
    /// The key that created the webhook or last changed its URL, its topics or its reach. `nil`: this was done at the
    /// command line, or the key is no longer stored.
    package var declaredBy: UUID?

    package init(
        id: UUID, draft: WebhookDraft, declaredBy: UUID? = nil, state: State, reason: String?, failingSince: Date?,
        previousSecretUntil: Date?, createdAt: Date, updatedAt: Date, version: Int = 0
    ) {
        self.id = id
        self.draft = draft
        self.declaredBy = declaredBy
        self.state = state
        self.reason = reason
        self.failingSince = failingSince
        self.previousSecretUntil = previousSecretUntil
        self.createdAt = createdAt
        self.updatedAt = updatedAt
        self.version = version
    }

    package enum State: String, Sendable, Hashable, CaseIterable {
        case enabled
        /// No new message is written for the webhook; messages in the queue wait.
        case disabled
    }

    /// The most webhooks whose reach names the same app, and also the most webhooks whose reach is all apps. Each
    /// message is posted to every webhook that wants it, so without a limit a caller could have every broadcast posted
    /// any number of times.
    package static let limit = 20

    /// A webhook that failed every time for this many seconds is disabled. It has five days, because the retries of one
    /// message take three days.
    package static let patience: TimeInterval = 5 * 86_400
}

/// A caller's draft of a webhook.
package struct WebhookDraft: Sendable, Hashable {
    package var url: WebhookURL
    package var description: String?
    /// In the order of `WebhookTopic.allCases`, each once.
    package var topics: [WebhookTopic]
    /// The webhook gets only messages about these apps and events.
    package var reach: AppReach
    package var isEnabled: Bool

    package init(
        url: WebhookURL, description: String? = nil, topics: Set<WebhookTopic>, reach: AppReach = .all,
        isEnabled: Bool = true
    ) {
        self.url = url
        self.description = description
        self.topics = WebhookTopic.allCases.filter(topics.contains)
        self.reach = reach
        self.isEnabled = isEnabled
    }
}
