internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import Logging

extension Reconciliation {
    /// The loop that reconciles every app and environment regularly, and after each unanswered creation. It makes only
    /// changes that are certain. It never deletes or adopts a channel that was created elsewhere; only people can request
    /// such a deletion or adoption.
    ///
    /// Several runs may be in progress, so that an app with slow calls does not delay others. A check for due runs takes
    /// milliseconds among 10,000 channels, and each new channel asks for a check. Without the rest between checks, they
    /// took as much of PostgreSQL's time as declaring the 10,000 events.
    ///
    /// - Parameter interval: seconds between two runs for one app and environment; 0: only necessary runs.
    func loop(
        every interval: TimeInterval, _ options: ReconciliationOptions, mayClaim: @escaping @Sendable () -> Bool
    ) -> WorkLoop<ReconciliationRun> {
        WorkLoop(
            .init(places: 4, rest: .milliseconds(250), pollInterval: .seconds(5)),
            failure: "reconciliations could not be claimed", logger: calls.logger, now: calls.now, mayClaim: mayClaim,
            claim: { _ in
                let run = try await store.claimDue(
                    interval: interval, now: now(), leasedUntil: calls.leasedUntil)
                return try await .claimed(run.map { [$0] } ?? []) {
                    try await store.nextDue(interval: interval, now: now())
                }
            }, perform: { await performDue($0, options) })
    }

    private func performDue(_ run: ReconciliationRun, _ options: ReconciliationOptions) async {
        do {
            _ = try await perform(run, options, by: .server)
        } catch is Problem {
            // Apple's list could not be read. That was logged.
        } catch {
            calls.logger.failed("a reconciliation failed; trying again", error)
            try? await Task.sleep(for: .seconds(1))
        }
    }
}
