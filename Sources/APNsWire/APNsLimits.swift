/// The limits that Apple documents.
package enum APNsLimits {
    /// The most bytes of a broadcast's whole JSON body. A larger one gets `PayloadTooLarge`.
    package static let broadcastPayload = 5_120
    /// The most bytes of a device push's whole JSON body.
    package static let devicePayload = 4_096
    /// The most bytes of ActivityKit's static and dynamic data together. The device may fail to decode a larger content
    /// state.
    package static let activityData = 4_096
    /// The most channels of one app in one environment.
    package static let channels = 10_000
    /// The most seconds for which a channel with `mostRecentMessageStored` stores a message: 8 hours.
    package static let storedMessageLifetime = 28_800
    /// The seconds for which a provider token is accepted, counted from its `iat`.
    package static let providerTokenLifetime = 3_600
    /// The least seconds after which a provider token may be replaced.
    package static let providerTokenMinimumAge = 1_200
    /// The most bytes of `apns-collapse-id`.
    package static let collapseID = 64
    /// The most seconds for which a Live Activity is active: 8 hours.
    package static let activityLifetime = 28_800
    /// The most seconds for which an ended Live Activity stays on the lock screen, whatever its `dismissal-date` is: 4
    /// hours (ActivityKit's documentation of `ActivityUIDismissalPolicy`; docs/internals/apns.md sections 3 and 4).
    package static let endedActivityLifetime = 14_400
}
