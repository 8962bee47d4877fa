package import APNsWire
package import GrandstandContract

/// The app and environment that a call to APNs is for, and the signer.
package struct APNsAddress: Sendable, Hashable, Decodable {
    package var bundleID: BundleID
    package var environment: APNsEnvironment
    package var credentials: Credentials
    /// How management paths spell the bundle ID, as the quirk `management-path` says. `lowercased` is for apps whose
    /// bundle ID has capitals and whose management calls end in `TopicMismatch` (docs/internals/apns.md 7). The send path
    /// always uses the registered spelling.
    package var managementPath: Contract.QuirkValue
    /// Whether Apple refused a call because the app's Broadcast capability is off, and has accepted no call that needs
    /// the capability since then.
    package var isCapabilityOff: Bool

    package init(
        bundleID: BundleID, environment: APNsEnvironment, credentials: Credentials,
        managementPath: Contract.QuirkValue = .registered, isCapabilityOff: Bool = false
    ) {
        self.bundleID = bundleID
        self.environment = environment
        self.credentials = credentials
        self.managementPath = managementPath
        self.isCapabilityOff = isCapabilityOff
    }

    /// The app and environment.
    package var app: AppEnvironment { AppEnvironment(bundleID: bundleID, environment: environment) }

    /// The bundle ID as management paths carry it.
    package var managementBundleID: String {
        managementPath == .lowercased ? bundleID.topic : bundleID.rawValue
    }
}
