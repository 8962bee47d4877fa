package import FoundationEssentials

/// A destination of messages, and the topics it subscribes to. Its secret is not part of it: that is shown once.
package struct Webhook: Sendable, Hashable {
    package var id: UUID
    package var draft: WebhookDraft
    package var state: State
    /// Why the server disabled it; `nil` while it is enabled, or when it was disabled by hand.
    package var reason: String?
    /// The first failure since the last success.
    package var failingSince: Date?
    /// Until then, messages carry the signature of the previous secret too.
    package var previousSecretUntil: Date?
    package var createdAt: Date
    package var updatedAt: Date
    /// A new number with each change of its declaration, also when the server disables it.
    package var version: Int
    /// The key that last said where its messages go and what they tell. `nil`: the command line, or a key that is no
    /// longer kept.
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
        /// No new message is written for it; queued ones wait.
        case disabled
    }

    /// Webhooks of one app, and of those that hear of all apps: each message is posted to every one that wants it, so who
    /// may make webhooks could otherwise have every broadcast posted any number of times.
    package static let limit = 20

    /// A webhook that failed every time for so many seconds is disabled: five days, as the retries of a message take
    /// three.
    package static let patience: TimeInterval = 5 * 86_400
}

/// A caller's draft of a webhook.
package struct WebhookDraft: Sendable, Hashable {
    package var url: WebhookURL
    package var description: String?
    /// In the order of `WebhookTopic.allCases`, each once.
    package var topics: [WebhookTopic]
    /// Only what concerns these apps, and no other.
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
