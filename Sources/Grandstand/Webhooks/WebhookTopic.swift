internal import APNsWire
package import FoundationEssentials
internal import JSON

/// The topics of webhooks; the Postgres type `webhook_topic` has the same words.
///
/// A new topic needs: its word and the trigger that notes it (`note_for_webhooks`) in the schema, this file, the
/// contract (openapi.yaml), the client's word and docs/webhooks.md.
package enum WebhookTopic: String, Sendable, Hashable, CaseIterable {
    /// Every delivery of a broadcast is settled.
    case broadcastSettled = "broadcast.settled"
    /// Apple no longer has a channel.
    case channelMissing = "channel.missing"
    /// An event's audience has another channel than before: apps must look it up again.
    case channelReplaced = "channel.replaced"
    /// An app's share of its channel limit rose or fell to another level.
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
        case .broadcastSettled: [.organise]
        case .channelMissing, .channelReplaced, .webhookTest: [.organise, .operate]
        case .quotaLevel, .reconciliationFound, .capabilityOff, .throttleBegan, .throttleEnded: [.operate]
        }
    }

    /// The message of this topic, byte for byte as it is posted.
    ///
    /// - Parameter at: when it happened.
    /// - Returns: `nil` if the facts are no news.
    /// - Throws: `internal-error` for facts of another topic.
    package func message(_ facts: WebhookFacts, at: Date) throws(Problem) -> [UInt8]? {
        if case .detail(let detail) = facts, self == .reconciliationFound, !ReconciliationFinding(detail).isNews {
            return nil
        }
        var isTold = true
        var json = JSONWriter()
        json.object { message in
            message.member("type", rawValue)
            message.member("timestamp", at)
            message.object("data") { isTold = write(facts, to: &$0) }
        }
        guard isTold else { throw Problem(.internalError, "\(rawValue) was noted with facts that are not its own.") }
        return json.bytes
    }

    /// Writes the members of `data`.
    ///
    /// - Returns: whether the facts are this topic's.
    private func write(_ facts: WebhookFacts, to data: inout JSONWriter) -> Bool {
        switch (self, facts) {
        case (.broadcastSettled, .broadcast(let settled)): settled.write(members: &data)
        case (.channelMissing, .channel(let channel, _)):
            channel.writeIdentity(to: &data)
            data.member("eventKey", channel.eventKey?.rawValue)
            data.member("reason", channel.reason)
        case (.channelReplaced, .channel(let channel, let replaced?)):
            channel.writeIdentity(to: &data)
            data.member("eventKey", channel.eventKey?.rawValue)
            data.object("replaced") { earlier in
                earlier.member("id", replaced.id)
                earlier.member("channelId", replaced.channelID)
            }
        case (.quotaLevel, .detail(let detail)):
            let quota = detail["quota"]
            data.members(["bundleId", "environment", "level"], of: quota)
            data.member("previousLevel", detail["previousLevel"]?.string)
            data.members(["limit", "used", "reserved", "available", "unmanaged"], of: quota)
        case (.reconciliationFound, .detail(let detail)): ReconciliationFinding(detail).write(members: &data)
        case (.capabilityOff, .detail(let detail)):
            data.member("bundleId", detail["bundle_id"]?.string)
            data.member("environment", detail["environment"]?.string)
            data.member(
                "evidence",
                detail["evidence"]?.string ?? "Apple's list has none of the channels that are known here")
        case (.throttleBegan, .detail(let detail)), (.throttleEnded, .detail(let detail)):
            data.member("bundleId", detail["bundle_id"]?.string)
            data.member("environment", detail["environment"]?.string)
            data.member("api", detail["api"]?.string)
            data.member("since", detail["since"]?.string.flatMap(RFC3339.date))
            if self == .throttleBegan { data.members(["ratePerSecond"], of: detail) }
        case (.webhookTest, .test(let webhook, let actor)):
            data.member("webhook", webhook)
            data.member("by", actor)
        default: return false
        }
        return true
    }
}

extension APIKey {
    /// Whether the key may subscribe to `topic`.
    package func hears(_ topic: WebhookTopic) -> Bool { topic.scopes.contains(where: holds) }
}
