internal import Grandstand

/// The form in which an installation gets a start, or why it gets none. Pure: it depends only on the installation's
/// record.
enum StartForm: Sendable, Hashable {
    /// The installation's activity listens to the event's channel (`input-push-channel`).
    case channel
    /// The installation's activity gets its own token (`input-push-token`).
    case token
    /// The push has neither `input-push-channel` nor `input-push-token`. The installation's iOS version does not know
    /// these keys and starts nothing from a push with one (docs/internals/apns.md 3.2).
    case plain
    case ineligible(Ineligible)

    /// Why a follower gets no start.
    enum Ineligible: String, Sendable, Hashable, CaseIterable {
        /// The follower's iOS version is too old.
        case system
        /// The phone's owner switched Live Activities off.
        case disabled
        /// The follower has no usable token for activities of this type.
        case noToken
    }

    init(
        systemVersion: SystemVersion, liveActivitiesEnabled: Bool, hasToken: Bool, delivery: Audience.Delivery
    ) {
        if systemVersion < .firstWithStarts {
            self = .ineligible(.system)
        } else if !liveActivitiesEnabled {
            self = .ineligible(.disabled)
        } else if !hasToken {
            self = .ineligible(.noToken)
        } else if systemVersion < .firstWithChannels {
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
