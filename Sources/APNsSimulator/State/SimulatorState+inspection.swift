package import APNsWire
package import FoundationEssentials

/// State that tests may read and change, and that APNs' own protocol does not show.
extension SimulatorState {
    /// The app's channels in the order they were created. The bundle ID matches without regard to case.
    package func channels(of bundleID: String, in environment: APNsEnvironment) -> [SimulatedChannel] {
        apps[AppKey(name: bundleID.lowercased(), environment: environment)]?.sorted ?? []
    }

    /// The stored message for a device that comes online at `now`; `nil` when none is stored or it has expired.
    package func storedMessage(
        on channelID: String, of bundleID: String, in environment: APNsEnvironment, now: Date
    ) -> StoredMessage? {
        let app = AppKey(name: bundleID.lowercased(), environment: environment)
        guard let stored = apps[app]?.channels[channelID]?.stored, stored.expiresAt > now else { return nil }
        return stored
    }

    /// Turns the Broadcast capability of an app on or off, as in Apple's developer portal. Off deletes every channel
    /// of the app in both environments, irreversibly (docs/internals/apns.md 1.2).
    package mutating func setBroadcastCapability(_ isOn: Bool, of bundleID: String) {
        let name = bundleID.lowercased()
        revision += 1
        if isOn {
            capabilityOff.remove(name)
        } else {
            capabilityOff.insert(name)
            for environment in APNsEnvironment.allCases {
                vanish(AppKey(name: name, environment: environment))
            }
        }
    }

    /// Every channel of an app is gone at once, as when its registration is lost.
    mutating func vanish(_ app: AppKey) {
        apps[app]?.deleteAll()
        postponed = postponed.filter { $0.key.app != app }
        revision += 1
    }
}
