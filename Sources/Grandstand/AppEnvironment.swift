package import APNsWire

/// An app in one of APNs' environments: it has a channel limit, a signing key and quirks of its own.
package struct AppEnvironment: Sendable, Hashable {
    package var bundleID: BundleID
    package var environment: APNsEnvironment

    package init(bundleID: BundleID, environment: APNsEnvironment) {
        self.bundleID = bundleID
        self.environment = environment
    }
}
