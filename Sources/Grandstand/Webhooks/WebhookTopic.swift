package import GrandstandContract

// Topics of webhooks. To add one, change the contract (openapi.yaml), the schema (the type `webhook_topic`),
// docs/webhooks.md, and who changes the thing that is told of: it writes the message (`WebhookNews`).

extension Contract.WebhookTopic {
    /// A key may subscribe to the topic if it has one of these scopes.
    package var scopes: Set<Contract.Scope> {
        switch self {
        case .broadcastSettled, .eventState: [.organise]
        case .channelMissing, .channelReplaced: [.organise, .operate]
        case .quotaLevel, .reconciliationFound, .capabilityOff, .throttleBegan, .throttleEnded: [.operate]
        case .unknown: []
        }
    }
}

extension APIKey {
    /// Whether the key may subscribe to `topic`.
    package func maySubscribe(to topic: Contract.WebhookTopic) -> Bool { topic.scopes.contains(where: holds) }
}
