internal import APNsWire
package import FoundationEssentials
internal import JSON

/// The topics of webhooks; the Postgres type `webhook_topic` has the same words.
///
/// To add a topic, change the schema (the type, and a trigger or a query that calls `note_for_webhooks`), this file,
/// the contract (openapi.yaml), from which the client gets the word, and docs/webhooks.md.
package enum WebhookTopic: String, Sendable, Hashable, CaseIterable {
    /// Every delivery of a broadcast is settled.
    case broadcastSettled = "broadcast.settled"
    /// An event ended, was cancelled, or was reopened.
    case eventState = "event.state"
    /// Apple no longer has a channel.
    case channelMissing = "channel.missing"
    /// An event's audience has another channel than before: apps must look it up again.
    case channelReplaced = "channel.replaced"
    /// The level of an app's quota rose or fell (`Quota.Level`).
    case quotaLevel = "quota.level"
    /// A reconciliation found something new.
    case reconciliationFound = "reconciliation.found"
    /// Apple's broadcast capability is off for an app.
    case capabilityOff = "capability.off"
    /// APNs began to throttle an app.
    case throttleBegan = "throttle.began"
    /// APNs no longer throttles an app.
    case throttleEnded = "throttle.ended"
    /// Somebody asked for a test message to a webhook.
    case webhookTest = "webhook.test"

    /// The topics that a webhook may subscribe to. A test message needs no subscription.
    package static let subscribable = allCases.filter { $0 != .webhookTest }

    /// A key may subscribe to the topic if it has one of these scopes.
    package var scopes: Set<APIKey.Scope> {
        switch self {
        case .broadcastSettled, .eventState: [.organise]
        case .channelMissing, .channelReplaced, .webhookTest: [.organise, .operate]
        case .quotaLevel, .reconciliationFound, .capabilityOff, .throttleBegan, .throttleEnded: [.operate]
        }
    }

    /// The message of this topic, byte for byte as it is posted.
    ///
    /// - Parameter at: when the reported change happened.
    /// - Returns: `nil` if the facts are no news.
    /// - Throws: `internal-error` for facts of another topic.
    package func message(_ facts: WebhookFacts, at: Date) throws(Problem) -> [UInt8]? {
        if case .detail(let detail) = facts, self == .reconciliationFound, !ReconciliationFinding(detail).isNews {
            return nil
        }
        guard let data = data(facts) else {
            throw Problem(
                .internalError,
                "The data that were stored for a message \(rawValue) belong to another topic. Report the request ID.")
        }
        return JSONWriter.text(Contract.WebhookMessage(type: .init(self), timestamp: at, data: data))
    }

    /// - Returns: `nil` if the facts belong to another topic.
    private func data(_ facts: WebhookFacts) -> RawJSON? {
        func json(_ data: (some Encodable)?) -> RawJSON? { data.map { RawJSON(writing: $0) } }
        return switch (self, facts) {
        case (.broadcastSettled, .broadcast(let settled)): json(Contract.BroadcastSettled(settled))
        case (.eventState, .detail(let detail)): json(Contract.EventStateChanged(detail))
        case (.channelMissing, .channel(let channel, _)): json(Contract.ChannelLost(channel))
        case (.channelReplaced, .channel(let channel, let replaced?)):
            json(Contract.ChannelReplaced(channel, replacing: replaced))
        case (.quotaLevel, .detail(let detail)): json(Contract.QuotaLevelChanged(detail))
        case (.reconciliationFound, .detail(let detail)): json(ReconciliationFinding(detail).found)
        case (.capabilityOff, .detail(let detail)): json(Contract.CapabilityOff(detail))
        case (.throttleBegan, .detail(let detail)): json(Contract.ThrottleBegan(detail))
        case (.throttleEnded, .detail(let detail)): json(Contract.ThrottleEnded(detail))
        case (.webhookTest, .test(let webhook, let actor)):
            json(Contract.WebhookTest(webhook: webhook.words, by: actor))
        default: nil
        }
    }
}

extension APIKey {
    /// Whether the key may subscribe to `topic`.
    package func hears(_ topic: WebhookTopic) -> Bool { topic.scopes.contains(where: holds) }
}
