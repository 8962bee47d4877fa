package import APNsWire
package import FoundationEssentials

/// Lets tests read and change state that APNs' protocol does not show.
extension SimulatorState {
    /// The app's channels in the order of their creation. The bundle ID's case does not matter.
    package func channels(of bundleID: String, in environment: APNsEnvironment) -> [SimulatedChannel] {
        apps[AppKey(name: bundleID.lowercased(), environment: environment)]?.sorted ?? []
    }

    /// The message that a device gets if it comes online at `now`; `nil`: none is stored, or it has expired.
    package func storedMessage(
        on channelID: String, of bundleID: String, in environment: APNsEnvironment, now: Date
    ) -> StoredMessage? {
        let app = AppKey(name: bundleID.lowercased(), environment: environment)
        guard let stored = apps[app]?.channels[channelID]?.stored, stored.expiresAt > now else { return nil }
        return stored
    }

    /// Turns an app's Broadcast capability on or off, as in Apple's developer portal. Turning it off deletes all
    /// channels of the app in both environments; they never come back (docs/internals/apns.md 1.2).
    package mutating func setBroadcastCapability(_ isOn: Bool, of bundleID: String) {
        let name = bundleID.lowercased()
        if isOn {
            capabilityOff.remove(name)
        } else {
            capabilityOff.insert(name)
            for environment in APNsEnvironment.allCases {
                vanish(AppKey(name: name, environment: environment))
            }
        }
    }

    /// Deletes all channels of an app at once, as when its registration is lost.
    mutating func vanish(_ app: AppKey) {
        apps[app]?.deleteAll()
        postponed = postponed.filter { $0.key.app != app }
    }
}
