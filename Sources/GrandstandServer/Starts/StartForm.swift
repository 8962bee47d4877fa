internal import Grandstand

/// The form in which an installation gets a start. Pure.
enum StartForm: Sendable, Hashable {
    /// The installation's activity listens to the event's channel (`input-push-channel`).
    case channel
    /// The installation's activity gets its own token (`input-push-token`).
    case token
    /// The push has neither `input-push-channel` nor `input-push-token`. The installation's iOS version does not know
    /// these keys and starts nothing from a push with one (docs/internals/apns.md 3.2).
    case plain

    init(_ systemVersion: SystemVersion, _ delivery: Audience.Delivery) {
        if systemVersion < .firstWithChannels {
            self = .plain
        } else {
            self =
                switch delivery {
                case .channel, .unknown: .channel
                case .tokens: .token
                }
        }
    }
}
