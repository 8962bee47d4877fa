package import FoundationEssentials

/// Apps as they are kept. Bundle IDs are found without regard to case.
package protocol AppStore: Sendable {
    /// Creates the app or replaces what is known of it.
    ///
    /// - Returns: whether it was created.
    /// - Throws: `app-exists` when another app's bundle ID differs in case only.
    func put(_ app: App, by actor: AuditActor) async throws -> (app: App, created: Bool)

    func app(_ bundleID: BundleID) async throws -> App?

    /// Apps within `reach`, in order of their bundle IDs.
    func apps(_ page: PageRequest, within reach: AppReach) async throws -> Page<App>

    /// - Throws: `app-not-found`; `app-in-use` while channels remain.
    func delete(_ bundleID: BundleID, by actor: AuditActor, now: Date) async throws
}
