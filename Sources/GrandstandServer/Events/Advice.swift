internal import APNsWire
internal import Grandstand
internal import GrandstandContract

/// Advice for people about refusals by Apple and about deliveries that expired. It depends only on state and reason.
enum Advice {
    /// Advice about a rejected or expired delivery; `nil` for other states.
    static func delivery(_ state: Contract.DeliveryState, reason: String?) -> String? {
        switch state {
        case .rejected: known(reason) ?? "Apple refused it. Look the reason up in Apple's documentation of APNs."
        case .expired:
            if let advice = known(reason) {
                "It was tried until it expired. \(advice)"
            } else if reason != nil {
                "It was tried until it expired. Check with `grandstand doctor` whether APNs can be reached; phones "
                    + "may not have this content, so send the newest state."
            } else {
                "It waited for its channel (see the audience above) or for its turn until its time ran out. Give the "
                    + "next broadcast a longer time with expiresIn."
            }
        case .waiting, .queued, .sending, .accepted, .superseded, .cancelled, .unknown: nil
        }
    }

    /// Advice about a channel that waits or failed.
    static func channel(reason: String?) -> String? {
        if reason == Problem.Kind.quotaExhausted.rawValue {
            return
                "The app has reached its limit of channels. End or cancel events that are over, or raise the limit; "
                + "the channel is then created by itself."
        }
        return known(reason)
    }

    /// Shows the reason of a channel's state, and advice.
    static func pieces(_ reason: String?, isActive: Bool) -> [Piece] {
        [.quoted(reason ?? ""), .line(isActive ? "" : channel(reason: reason) ?? "")]
    }

    private static func known(_ reason: String?) -> String? {
        guard let reason = reason.map(APNsReason.init), let status = reason.status else { return nil }
        switch reason {
        case .broadcastFeatureNotEnabled: return capability
        case .payloadTooLarge:
            return "Shorten contentState or alert: Apple takes \(Wording.number(APNsLimits.broadcastPayload)) bytes."
        case .badExpirationDate:
            return "Apple does not take this expiration on a channel of this storage policy. Leave apnsExpiration out."
        default: break
        }
        switch reason.meaning(status: status) {
        case .badRequest:
            return "Apple found the request malformed; repeating it cannot help. Correct the broadcast, or report the "
                + "request ID."
        case .channelGone:
            return
                "Apple said that it does not know the channel. If the channel is missing from Apple's list, too, the "
                + "event gets another by itself; send the newest state again."
        case .configuration:
            return "Apple refused this because of the app's registration: check the bundle ID and the key's team "
                + "(grandstand doctor)."
        case .credentials:
            return "Apple did not take the key: check the key file, the key ID and the team ID (grandstand doctor)."
        case .quota:
            return
                "Apple creates no more channels for this app: delete channels that nobody needs. The app's "
                + "reconciliations list them."
        case .throttled:
            return "Apple asked to slow down. Send less often, or give broadcasts more time with expiresIn."
        case .unavailable: return "Apple had trouble of its own. Send the newest state again."
        }
    }

    /// Advice about a key that APNs refuses.
    static func refusedKey(_ keyID: String) -> String {
        "Check that AuthKey_\(keyID).p8 is the file of this key, that the key belongs to the app's team, is not revoked "
            + "and has APNs enabled. The server reads a new file within seconds."
    }

    static let capability =
        "Turn the Broadcast Capability of the App ID on in Apple's developer account (Identifiers, Push Notifications)."
}
