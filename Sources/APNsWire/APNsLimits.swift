/// Numbers Apple documents.
package enum APNsLimits {
    /// Bytes of a broadcast's whole JSON body; one more is `PayloadTooLarge`.
    package static let broadcastPayload = 5_120
    /// Bytes of a device push's whole JSON body.
    package static let devicePayload = 4_096
    /// Bytes of ActivityKit's static and dynamic data together: content state beyond it may not decode on the device.
    package static let activityData = 4_096
    /// Channels of one app in one environment.
    package static let channels = 10_000
    /// Seconds a channel with `mostRecentMessageStored` keeps a message at most: 8 hours.
    package static let storedMessageLifetime = 28_800
    /// Seconds a provider token is accepted after its `iat`.
    package static let providerTokenLifetime = 3_600
    /// Seconds a provider token must be kept before it is replaced.
    package static let providerTokenMinimumAge = 1_200
    /// Bytes of `apns-collapse-id`.
    package static let collapseID = 64
    /// Seconds a Live Activity is active at most: 8 hours.
    package static let activityLifetime = 28_800
    /// Seconds an ended Live Activity stays on the lock screen at most, whatever its `dismissal-date` says: 4 hours
    /// (ActivityKit's documentation of `ActivityUIDismissalPolicy`; docs/internals/apns.md sections 3 and 4).
    package static let endedActivityLifetime = 14_400
}
