package import FoundationEssentials
package import Grandstand

/// An `InstallationStore` whose answers the test sets.
package struct FakeInstallations: InstallationStore {
    package var save: @Sendable (InstallationState, InstallationID, String) throws -> Bool = { _, _, _ in
        throw Unasked()
    }
    package var find: @Sendable (InstallationID, String) throws -> KnownInstallation = { _, _ in throw Unasked() }
    package var remove: @Sendable (InstallationID, String) throws -> Void = { _, _ in throw Unasked() }
    package var report: @Sendable (DeviceActivity, Bool) throws -> Bool = { _, _ in throw Unasked() }
    package var dismiss: @Sendable (String) throws -> Void = { _ in throw Unasked() }
    package var count: @Sendable (AppEnvironment) throws -> InstallationStatistics = { _ in throw Unasked() }

    package init() {}

    package func put(
        _ state: InstallationState, of id: InstallationID, secret: String, now: Date
    ) async throws -> Bool { try save(state, id, secret) }
    package func installation(_ id: InstallationID, secret: String) async throws -> KnownInstallation {
        try find(id, secret)
    }
    package func forget(_ id: InstallationID, secret: String) async throws { try remove(id, secret) }
    package func put(
        _ activity: DeviceActivity, of id: InstallationID, secret: String, isSampled: Bool, now: Date
    ) async throws -> Bool { try report(activity, isSampled) }
    package func forget(activity: String, of id: InstallationID, secret: String) async throws {
        try dismiss(activity)
    }
    package func statistics(of app: AppEnvironment) async throws -> InstallationStatistics { try count(app) }
}
