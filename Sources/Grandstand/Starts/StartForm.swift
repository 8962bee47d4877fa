/// The form in which an installation gets a start, or why it gets none. Pure: it depends only on the installation's
/// record.
package enum StartForm: Sendable, Hashable {
    /// Its activity listens to the event's channel (`input-push-channel`).
    case channel
    /// Its activity gets its own token (`input-push-token`).
    case token
    /// Neither key, because this system does not know them and starts nothing from a push with one
    /// (docs/internals/apns.md 3.2).
    case plain
    case ineligible(Ineligible)

    /// Why a follower gets no start.
    package enum Ineligible: String, Sendable, Hashable, CaseIterable {
        /// Its system is too old.
        case system
        /// The phone's owner switched Live Activities off.
        case disabled
        /// It has no usable token for activities of this type.
        case noToken
        /// It could have got a start, but the start was over or stopped before its push was sent. Only reports say so,
        /// because `StartForm.init` does not know the time.
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
