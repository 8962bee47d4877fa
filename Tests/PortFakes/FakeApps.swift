package import FoundationEssentials
package import Grandstand

/// An `AppStore` whose answers the test sets.
package struct FakeApps: AppStore {
    package var find: @Sendable (BundleID) throws -> App? = { _ in throw Unasked() }
    package var list: @Sendable (PageRequest, AppReach) throws -> Page<App> = { _, _ in throw Unasked() }
    package var save: @Sendable (App, WriteCondition) throws -> (app: App, created: Bool) = { _, _ in throw Unasked() }

    package var remove: @Sendable (BundleID) throws -> Void = { _ in throw Unasked() }

    package init() {}

    package func app(_ bundleID: BundleID) async throws -> App? { try find(bundleID) }
    package func apps(_ page: PageRequest, within reach: AppReach) async throws -> Page<App> { try list(page, reach) }
    package func put(
        _ app: App, by actor: AuditActor, if condition: WriteCondition
    ) async throws -> (app: App, created: Bool) { try save(app, condition) }
    package func delete(_ bundleID: BundleID, by actor: AuditActor, now: Date) async throws { try remove(bundleID) }
}
