package import FoundationEssentials

/// Apps as they are kept. Bundle IDs are found without regard to case.
package protocol AppStore: Sendable {
    /// Creates the app or replaces its registration.
    ///
    /// - Returns: whether it was created.
    /// - Throws: `app-exists` when another app's bundle ID differs in case only, or the app is being deleted;
    ///   `version-mismatch`.
    func put(
        _ app: App, by actor: AuditActor, if condition: WriteCondition
    ) async throws -> (app: App, created: Bool)

    /// Also one that is being deleted, as `apps` lists it.
    func app(_ bundleID: BundleID) async throws -> App?

    /// Apps within `reach`, in order of their bundle IDs.
    func apps(_ page: PageRequest, within reach: AppReach) async throws -> Page<App>

    /// From now on nobody can use the app. It is gone at once if it has little history; else that is removed bit by bit
    /// (`AppRemover`), and until then the app has `deletingSince`.
    ///
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
    /// - Throws: `app-not-found`, also while it is being deleted.
    package func registered(_ bundleID: BundleID) async throws -> App {
        let app = try await shown(bundleID)
        guard app.deletingSince == nil else {
            throw Problem(
                .appNotFound, "The app \(bundleID) was deleted; what is left of its history is being removed.")
        }
        return app
    }

    /// The app of this bundle ID, also while it is being deleted.
    ///
    /// - Throws: `app-not-found`.
    package func shown(_ bundleID: BundleID) async throws -> App {
        guard let app = try await app(bundleID) else {
            throw Problem(.appNotFound, "There is no app \(bundleID). Register it with PUT /v1/apps first.")
        }
        return app
    }
}
