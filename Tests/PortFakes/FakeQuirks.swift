package import FoundationEssentials
package import Grandstand

/// Quirks, as `QuirkStore` has them.
package struct FakeQuirks: QuirkStore {
    package var known: [Quirk] = []
    package var keep: @Sendable (Quirk, Audience.Selector) throws -> Void = { _, _ in throw Unasked() }

    package init() {}

    package func quirks(of bundleID: BundleID) async throws -> [Quirk] { known }
    package func conclude(_ quirk: Quirk, for app: Audience.Selector, by actor: AuditActor) async throws {
        try keep(quirk, app)
    }

    package func beginExamination(
        of name: Quirk.Name, for app: Audience.Selector, concludedSince since: Date, now: Date, leasedUntil: Date
    ) async throws -> ExaminationStart { throw Unasked() }
    package func noteCapability(
        isOn: Bool, for app: Audience.Selector, evidence: String, isBroadcast: Bool, calledAt: Date, now: Date
    ) async throws { throw Unasked() }
    package func abandonExamination(of name: Quirk.Name, for app: Audience.Selector) async throws { throw Unasked() }
}
