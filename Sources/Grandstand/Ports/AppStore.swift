package import FoundationEssentials

/// Stores apps. Upper and lower case of bundle IDs are the same.
package protocol AppStore: Sendable {
    /// Creates the app or replaces its registration.
    ///
    /// - Returns: whether it was created.
    /// - Throws: `app-exists` if another app's bundle ID differs only in case, or the app is being deleted;
    ///   `version-mismatch`.
    func put(
        _ app: App, by actor: AuditActor, if condition: WriteCondition
    ) async throws -> (app: App, created: Bool)

    /// The app, also while it is being deleted.
    func app(_ bundleID: BundleID) async throws -> App?

    /// Apps within `reach`, in order of their bundle IDs.
    func apps(_ page: PageRequest, within reach: AppReach) async throws -> Page<App>

    /// Deletes the app. From now on nobody can use it. If it has little history, it is removed at once. Otherwise
    /// `AppRemover` removes the history bit by bit, and until then the app has `deletingSince`.
    ///
    /// - Throws: `app-not-found`; `app-in-use` while channels remain.
    func delete(_ bundleID: BundleID, by actor: AuditActor, now: Date) async throws
}

extension AppStore {
    /// Creates the app or replaces its registration, without a condition.
    package func put(_ app: App, by actor: AuditActor) async throws -> (app: App, created: Bool) {
        try await put(app, by: actor, if: .none)
    }

    /// The app with this bundle ID. Callers use this method where an unknown app would otherwise look like an app
    /// without data.
    ///
    /// - Throws: `app-not-found`, also while the app is being deleted.
    package func registered(_ bundleID: BundleID) async throws -> App {
        let app = try await shown(bundleID)
        guard app.deletingSince == nil else {
            throw Problem(
                .appNotFound, "The app \(bundleID) was deleted; what is left of its history is being removed.")
        }
        return app
    }

    /// The app with this bundle ID, also while it is being deleted.
    ///
    /// - Throws: `app-not-found`.
    package func shown(_ bundleID: BundleID) async throws -> App {
        guard let app = try await app(bundleID) else {
            throw Problem(.appNotFound, "There is no app \(bundleID). Register it with PUT /v1/apps/\(bundleID) first.")
        }
        return app
    }
}
