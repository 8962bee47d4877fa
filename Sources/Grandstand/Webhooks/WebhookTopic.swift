/// What a webhook can tell of; the same words are a Postgres type.
package enum WebhookTopic: String, Sendable, Hashable, CaseIterable {
    /// Every delivery of a broadcast is settled.
    case broadcastSettled = "broadcast.settled"
    /// Apple no longer has a channel.
    case channelMissing = "channel.missing"
    /// An event's audience has another channel than before: apps must look it up anew.
    case channelReplaced = "channel.replaced"
    /// An app's share of its channel limit rose or fell to another level.
    case quotaLevel = "quota.level"
    /// A reconciliation found what it had not seen before.
    case reconciliationFound = "reconciliation.found"
    /// Apple's broadcast capability is off for an app.
    case capabilityOff = "capability.off"
    /// Asked for by hand, to try a webhook out.
    case webhookTest = "webhook.test"

    /// What a webhook may ask for; a test comes without being asked for.
    package static let subscribable = allCases.filter { $0 != .webhookTest }

    /// A key hears of the topic when it holds one of these.
    package var scopes: Set<APIKey.Scope> {
        switch self {
        case .broadcastSettled: [.organise]
        case .channelMissing, .channelReplaced, .webhookTest: [.organise, .operate]
        case .quotaLevel, .reconciliationFound, .capabilityOff: [.operate]
        }
    }
}

extension APIKey {
    /// Whether the key may hear of `topic`.
    package func hears(_ topic: WebhookTopic) -> Bool { topic.scopes.contains(where: holds) }
}
