internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import Testing

struct ReconciliationFoundTests {
    private static let at = Date(timeIntervalSince1970: 1_763_757_600)

    private static func found(
        missing: [Contract.MissingChannel] = [], unmanagedSince: [Date] = [],
        actions: [Contract.ReconciliationAction] = [], alarm: Contract.ReconciliationAlarm? = nil,
        standing: Contract.ReconciliationAlarm? = nil
    ) -> Contract.ReconciliationFound? {
        let report = Contract.Reconciliation(
            id: "x", bundleId: "a", environment: .production, actor: "server", startedAt: at, finishedAt: at + 1,
            applied: true, apple: 4, ledger: 3, matched: 3, missing: missing,
            unmanaged: unmanagedSince.map { Contract.UnmanagedChannel(channelId: "b", firstSeenAt: $0) },
            actions: actions, alarm: alarm, notes: [])
        return Contract.ReconciliationFound(report, standing: standing)
    }

    @Test func `a reconciliation is reported if it says something that none before it said`() {
        let lost = Contract.MissingChannel(id: "c", storagePolicy: .noMessageStored)
        let old = Self.at - 0.001
        for nothing in [
            Self.found(), Self.found(unmanagedSince: [old]), Self.found(standing: .listIncomplete),
            Self.found(alarm: .listIncomplete, standing: .listIncomplete),
        ] { #expect(nothing == nil) }
        #expect(Self.found(missing: [lost])?.missing == 1)
        #expect(Self.found(actions: [Contract.ReconciliationAction(action: .adopt, done: true)])?.actions == 1)
        #expect(Self.found(alarm: .capabilityOff, standing: .listIncomplete)?.alarm == .capabilityOff)
        let new = Self.found(unmanagedSince: [old, Self.at])
        #expect(new?.unmanaged == 2 && new?.newUnmanaged == 1)
    }
}
