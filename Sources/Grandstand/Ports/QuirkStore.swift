/// The quirks of APNs for each app and environment, shared by all replicas.
package protocol QuirkStore: Sendable {
    /// What is remembered of the app, documented behaviour included.
    func quirks(of bundleID: BundleID) async throws -> [Quirk]

    /// Remembers a value in place of an earlier one. Of the same value learned twice the first evidence stays.
    ///
    /// `broadcast-feature` is the alarm that an app may not broadcast: `on` ends it, and creations that were refused
    /// because of it are due at once.
    func remember(_ quirk: Quirk, for app: AppEnvironment, by actor: AuditActor) async throws
}
