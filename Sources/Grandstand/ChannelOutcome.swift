internal import APNsWire
package import FoundationEssentials
internal import GrandstandContract

/// What becomes of a channel after a call to Apple about it. Pure.
package enum ChannelOutcome: Sendable, Hashable {
    /// Apple issued this ID.
    case created(channelID: String)
    /// The call was refused, not tried, or a deletion was not answered. The channel is now in `state`. The call is made
    /// again at `nextAttemptAt`; `nil`: never.
    case unsuccessful(state: Channel.State, nextAttemptAt: Date?)
    /// Apple may have created a channel. From `settleableAt` on, Apple's list shows whether it did.
    case unanswered(settleableAt: Date)
    /// Apple deleted the channel, or did not know it.
    case deleted

    /// Seconds to wait after a creation without an answer. If Apple's list does not have the channel after this wait,
    /// we trust the list.
    private static let settlePause: TimeInterval = 2

    /// Judges the answer to a creation.
    ///
    /// - Parameters:
    ///   - retries: `true`: the server retries after a refusal. `false`: the caller gets the refusal.
    ///   - attempts: the number of creations of this channel that were tried.
    package init(
        creation answer: APNsAnswer<String>, retries: Bool, attempts: Int, now: Date,
        jitter: Double = .random(in: 0..<1)
    ) {
        let next = Self.nextAttempt(answer.refusal, attempts, now, jitter)
        self =
            switch answer {
            case .accepted(let channelID, _): .created(channelID: channelID)
            case .unanswered: .unanswered(settleableAt: now.addingTimeInterval(Self.settlePause))
            case .refused where !retries, .unsent where !retries, .withheld where !retries:
                .unsuccessful(state: .deleted, nextAttemptAt: nil)
            // The same request may soon succeed.
            case .refused(let refusal) where refusal.meaning == .throttled || refusal.meaning == .unavailable:
                .unsuccessful(state: .creating, nextAttemptAt: next)
            case .refused: .unsuccessful(state: .failed, nextAttemptAt: next)
            // Apple never received the call.
            case .unsent, .withheld: .unsuccessful(state: .creating, nextAttemptAt: next)
            }
    }

    /// Judges the answer to a deletion. A channel that Apple does not know counts as deleted (docs/internals/apns.md C3).
    ///
    /// - Parameter isListed: whether Apple's list, which was read after a 404, may have the channel.
    package init(
        deletion answer: APNsAnswer<Void>, isListed: Bool, attempts: Int, now: Date,
        jitter: Double = .random(in: 0..<1)
    ) {
        let isGone =
            switch answer {
            case .accepted: true
            case .refused(let refusal):
                refusal.reason == .channelNotRegistered || refusal.reason == .badChannelId
                    || refusal.isUnknownPath && !isListed
            case .unanswered, .unsent, .withheld: false
            }
        let next = Self.nextAttempt(answer.refusal, attempts, now, jitter)
        self = isGone ? .deleted : .unsuccessful(state: .deleting, nextAttemptAt: next)
    }

    private static func nextAttempt(_ refusal: APNsRefusal?, _ attempts: Int, _ now: Date, _ jitter: Double) -> Date {
        let (policy, after): (RetryPolicy, Int) =
            switch refusal?.meaning {
            case .configuration where refusal?.reason == .broadcastFeatureNotEnabled: (.capabilityOff, attempts)
            // Only people can remove the cause of such a refusal, so the server retries slowly.
            case .quota: (.noPlace, 1)
            case .configuration, .badRequest, .targetGone: (.channels, max(attempts, 10))
            case .credentials where refusal?.isOfRefusedKey == true: (.channels, 1)
            case .credentials, .throttled, .unavailable, nil: (.channels, attempts)
            }
        return policy.nextAttempt(after: after, now: now, retryAfter: refusal?.retryAfter, jitter: jitter)
    }
}

extension APNsRefusal {
    /// Whether Apple has no such path. The channel may be gone, or the address may be wrong.
    package var isUnknownPath: Bool { status == 404 && reason == .badPath }
}
