package import FoundationEssentials
package import Grandstand

/// Quirks, as `QuirkStore` has them.
package struct FakeQuirks: QuirkStore {
    package var known: [Quirk] = []
    package var keep: @Sendable (Quirk, AppEnvironment) throws -> Void = { _, _ in throw Unasked() }

    package init() {}

    package func quirks(of bundleID: BundleID) async throws -> [Quirk] { known }
    package func conclude(_ quirk: Quirk, for app: AppEnvironment, by actor: AuditActor) async throws {
        try keep(quirk, app)
    }

    package func beginExamination(
        of name: Quirk.Name, for app: AppEnvironment, concludedSince since: Date, now: Date, leasedUntil: Date
    ) async throws -> ExaminationStart { throw Unasked() }
    package func noteCapability(
        isOn: Bool, for app: AppEnvironment, evidence: String, isBroadcast: Bool, calledAt: Date, now: Date
    ) async throws { throw Unasked() }
    package func abandonExamination(of name: Quirk.Name, for app: AppEnvironment) async throws { throw Unasked() }
}
