package import FoundationEssentials

/// Apps as they are kept. Bundle IDs are found without regard to case.
package protocol AppStore: Sendable {
    /// Creates the app or replaces its registration.
    ///
    /// - Returns: whether it was created.
    /// - Throws: `app-exists` when another app's bundle ID differs in case only; `version-mismatch`.
    func put(
        _ app: App, by actor: AuditActor, if condition: WriteCondition
    ) async throws -> (app: App, created: Bool)

    func app(_ bundleID: BundleID) async throws -> App?

    /// Apps within `reach`, in order of their bundle IDs.
    func apps(_ page: PageRequest, within reach: AppReach) async throws -> Page<App>

    /// - Throws: `app-not-found`; `app-in-use` while channels remain.
    func delete(_ bundleID: BundleID, by actor: AuditActor, now: Date) async throws
}

extension AppStore {
    /// The same, whatever is there.
    package func put(_ app: App, by actor: AuditActor) async throws -> (app: App, created: Bool) {
        try await put(app, by: actor, if: .none)
    }

    /// The app of this bundle ID, for whatever would say of a typo what it says of an app that has nothing.
    ///
    /// - Throws: `app-not-found`.
    package func registered(_ bundleID: BundleID) async throws -> App {
        guard let app = try await app(bundleID) else {
            throw Problem(.appNotFound, "There is no app \(bundleID). Register it with PUT /v1/apps first.")
        }
        return app
    }
}
