package import APNsWire

/// An app in one APNs environment. Each has its own channel limit, signing key and quirks.
package struct AppEnvironment: Sendable, Hashable, Decodable {
    package var bundleID: BundleID
    package var environment: APNsEnvironment

    package init(bundleID: BundleID, environment: APNsEnvironment) {
        self.bundleID = bundleID
        self.environment = environment
    }
}
