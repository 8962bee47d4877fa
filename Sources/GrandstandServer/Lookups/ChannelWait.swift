internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import JSON

/// Why the channel of an audience cannot be looked up yet.
struct ChannelWait: Sendable, Hashable {
    /// When the channel will be created; `nil`: at once.
    var opensAt: Date?
    /// The refusal of the channel's creation; `nil`: the creation was not refused.
    var refusal: Refusal?

    /// A creation that was refused and is tried again.
    struct Refusal: Sendable, Hashable {
        /// `quota-exhausted`, or APNs' reason; `nil`: it is not known.
        var reason: String?
        var nextAttemptAt: Date
    }

    /// Seconds after which it is worth asking again. A channel is created within two seconds. An opening or an attempt
    /// may come earlier than planned, so clients wait for at most an hour.
    func retryAfter(_ now: Date) -> Int {
        let next = max(opensAt ?? now, refusal?.nextAttemptAt ?? now)
        return Int(min(max(next.timeIntervalSince(now).rounded(.up), 2), 3_600))
    }

    /// Why the event's channel does not exist yet, and when to ask again, in sentences.
    func detail(of key: EventKey, _ now: Date) -> String {
        if let opensAt, opensAt > now { return "The channel of \(key) will be made before the event. Ask again." }
        guard let refusal, refusal.nextAttemptAt > now else {
            return "The channel of \(key) is being made. Ask again."
        }
        return "The channel of \(key) could not be made: \(refusal.cause). The next attempt is at "
            + "\(RFC3339.text(refusal.nextAttemptAt)). Ask again then."
    }
}

extension ChannelWait.Refusal {
    fileprivate var cause: String {
        guard let reason else { return "APNs refused it" }
        if reason == Problem.Kind.quotaExhausted.rawValue { return "the app has no channel left" }
        return switch APNsReason(rawValue: reason) {
        case .cannotCreateChannelConfig: "APNs has no channel left for the app"
        case .broadcastFeatureNotEnabled: "Apple's broadcast capability is off for the app"
        default: "APNs refused it (\(reason))"
        }
    }
}
