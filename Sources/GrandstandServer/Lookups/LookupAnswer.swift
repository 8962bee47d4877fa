internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import JSON

/// The subject of a lookup: an event, in an app and environment, in one of its variants.
struct LookupName: Sendable, Hashable {
    /// The lowercased bundle ID.
    let topic: String
    let environment: APNsEnvironment
    let key: EventKey
    /// `nil`: the audience without a variant, else the first that is not over.
    var variant: Variant?
}

/// A lookup's answer about one event in one app and environment.
enum LookupAnswer: Sendable, Hashable {
    case found(LookupBody)
    /// The event exists, but its channel does not exist yet.
    case pending(ChannelWait)
    /// The event ended, at least for this audience, or was cancelled; with its last content, if the caller asked for it.
    case over(LookupContent? = nil)
    /// The event exists, but none of the app's audiences in the event has the requested variant.
    ///
    /// - Parameter variants: the variants of the app's audiences, in the order of their declaration; `nil`: an audience
    ///   without a variant.
    case noSuchVariant(among: [Variant?])
}

/// The newest content of an audience, and the `aps.timestamp` of the message with this content.
struct LookupContent: Sendable, Hashable {
    let state: RawJSON
    let timestamp: Int
}

/// The JSON text of an answer, with its entity tag.
struct LookupBody: Sendable, Hashable {
    let bytes: [UInt8]
    let tag: EntityTag

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
        tag = EntityTag(of: bytes)
    }
}

/// Why the channel of an audience cannot be looked up yet.
struct ChannelWait: Sendable, Hashable {
    /// When the channel will be created; `nil`: at once.
    var opensAt: Date?
    /// When a creation that was refused is tried again; `nil`: the creation was not refused.
    var nextAttemptAt: Date?
    /// Why it was refused: `quota-exhausted`, or APNs' reason; `nil`: it is not known.
    var reason: String?

    /// Seconds after which it is worth asking again. A channel is created within two seconds. An opening or an attempt
    /// may come earlier than planned, so clients wait for at most an hour.
    func retryAfter(_ now: Date) -> Int {
        let next = max(opensAt ?? now, nextAttemptAt ?? now)
        return Int(min(max(next.timeIntervalSince(now).rounded(.up), 2), 3_600))
    }

    /// Why the event's channel does not exist yet, and when to ask again, in sentences.
    func detail(of key: EventKey, _ now: Date) -> String {
        if let opensAt, opensAt > now { return "The channel of \(key) will be made before the event. Ask again." }
        guard let nextAttemptAt, nextAttemptAt > now else {
            return "The channel of \(key) is being made. Ask again."
        }
        return "The channel of \(key) could not be made: \(cause). The next attempt is at "
            + "\(RFC3339.text(nextAttemptAt)). Ask again then."
    }

    private var cause: String {
        guard let reason else { return "APNs refused it" }
        if reason == Problem.Kind.quotaExhausted.rawValue { return "the app has no channel left" }
        return switch APNsReason(rawValue: reason) {
        case .cannotCreateChannelConfig: "APNs has no channel left for the app"
        case .broadcastFeatureNotEnabled: "Apple's broadcast capability is off for the app"
        default: "APNs refused it (\(reason))"
        }
    }
}
