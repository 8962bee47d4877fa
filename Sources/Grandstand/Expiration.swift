package import APNsWire
package import FoundationEssentials

/// How long a broadcast is worth sending, and the `apns-expiration` header that a channel's storage policy allows.
///
/// Apple (A2, A3; docs/internals/apns.md 2.3): on a channel with No Message Stored the header must be exactly 0; with
/// Most Recent Message Stored it is 0 (one attempt, not stored) or an epoch at most 8 hours ahead.
package enum Expiration: Sendable, Hashable {
    /// The organiser did not say how long the broadcast is worth sending.
    case standard
    /// The broadcast is worth sending for this many seconds.
    case after(seconds: Int)
    /// The organiser set the header to 0 or to a time in seconds since 1970.
    case header(Int)

    /// The header's value for a channel with `policy`.
    ///
    /// - Parameter deadline: when the server stops trying to send the message.
    package func header(for policy: StoragePolicy, until deadline: Date) -> Int {
        switch (self, policy) {
        // The header is 0 even if the organiser set a time. In this case the channel had another policy when the
        // message was accepted.
        case (_, .noMessageStored): 0
        case (.header(let value), .mostRecentMessageStored): value
        // Rounded up, so that the time in the header has not passed at any attempt before the deadline.
        case (.standard, .mostRecentMessageStored), (.after, .mostRecentMessageStored):
            Int(deadline.timeIntervalSince1970.rounded(.up))
        }
    }

    /// When the server stops trying to send the message. It is never after the time in the header, nor after the time
    /// for which APNs would store the message.
    package func deadline(now: Date) -> Date {
        let longest = Date(epoch: now.epoch + APNsLimits.storedMessageLifetime)
        return switch self {
        case .standard, .header(0): longest
        case .after(let seconds): min(longest, now.addingTimeInterval(Double(seconds)))
        case .header(let value): Date(epoch: value)
        }
    }

    /// Whether the organiser said how long the content is worth sending.
    package var isTimed: Bool {
        switch self {
        case .standard, .header(0): false
        case .after, .header: true
        }
    }

    /// Why a channel with `policy` does not allow this expiration; `nil`: the channel allows it.
    package func objection(for policy: StoragePolicy, now: Date) -> String? {
        guard case .header(let value) = self, value != 0 else { return nil }
        if policy == .noMessageStored {
            return "A channel with noMessageStored takes apns-expiration 0 only. Send 0, or use expiresIn, "
                + "which is translated for each channel's policy."
        }
        if value <= now.epoch {
            return "\(value) is in the past. Use an epoch in seconds within the next 8 hours, or 0."
        }
        if value > now.epoch + APNsLimits.storedMessageLifetime {
            return "\(value) is more than 8 hours ahead, longer than APNs stores a message. "
                + "Use an epoch in seconds up to \(now.epoch + APNsLimits.storedMessageLifetime)."
        }
        return nil
    }
}
