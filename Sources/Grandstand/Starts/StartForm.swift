/// The form in which an installation gets a start, or why it gets none. Pure: decided by its record.
package enum StartForm: Sendable, Hashable {
    /// Its activity listens to the event's channel (`input-push-channel`).
    case channel
    /// Its activity gets a token of its own (`input-push-token`).
    case token
    /// The system knows neither key, and starts nothing from a push that has one (docs/internals/apns.md 3.2).
    case plain
    case ineligible(Ineligible)

    /// Why a follower gets no start.
    package enum Ineligible: String, Sendable, Hashable, CaseIterable {
        /// Its system is too old.
        case system
        /// Its owner switched Live Activities off.
        case disabled
        /// It has no token that can be used for activities of this type.
        case noToken
        /// It could have got one, but the start was over or stopped before its push was made. Only reports say so:
        /// `StartForm.init` does not know the time.
        case tooLate
    }

    package init(
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
            self = delivery == .channel ? .channel : .token
        }
    }
}
