package import Grandstand

/// A `QuirkStore` whose answers the test sets.
package struct FakeQuirks: QuirkStore {
    package var known: [Quirk] = []
    package var keep: @Sendable (Quirk, AppEnvironment) throws -> Void = { _, _ in throw Unasked() }

    package init() {}

    package func quirks(of bundleID: BundleID) async throws -> [Quirk] { known }
    package func remember(_ quirk: Quirk, for app: AppEnvironment, by actor: AuditActor) async throws {
        try keep(quirk, app)
    }
}
