internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import Logging
internal import ServiceLifecycle

/// Reconciles every app and environment regularly, and after each unanswered creation. The reconciler makes only
/// changes that are certain. It never deletes or adopts a channel that was created elsewhere; only people can request
/// such a deletion or adoption.
struct Reconciler: Service {
    let reconciliation: Reconciliation
    /// Seconds between two runs for one app and environment; 0: only necessary runs.
    let interval: TimeInterval
    let options: ReconciliationOptions
    let signals: WakeSignals
    let mayClaim: @Sendable () -> Bool

    /// The longest sleep.
    private static let pollInterval: Duration = .seconds(5)
    /// The time between two checks for due runs. A check takes milliseconds among 10,000 channels, and each new channel
    /// asks for a check. Without this limit, the checks took as much of PostgreSQL's time as declaring the 10,000 events.
    private static let lookInterval: Duration = .milliseconds(250)

    private var store: ReconciliationStore { reconciliation.calls.reconciliations }
    private var logger: Logger { reconciliation.calls.logger }

    /// The number of runs in progress at the same time. Several runs are allowed, so that an app with slow calls does
    /// not delay others.
    private static let concurrency = 4

    func run() async {
        let loop = WorkLoop(
            .init(places: Self.concurrency, rest: Self.lookInterval, pollInterval: Self.pollInterval),
            failure: "reconciliations could not be claimed", logger: logger, now: reconciliation.calls.now,
            mayClaim: mayClaim, claim: { _ in try await look() }, perform: perform)
        await loop.run(wakenBy: signals.wakes(.channels))
    }

    private func look() async throws -> Round<ReconciliationRun> {
        let now = reconciliation.calls.now
        let run = try await store.claimDue(
            interval: interval, now: now(), leasedUntil: reconciliation.calls.leasedUntil)
        return try await .claimed(run.map { [$0] } ?? []) { try await store.nextDue(interval: interval, now: now()) }
    }

    private func perform(_ run: ReconciliationRun) async {
        do {
            _ = try await reconciliation.perform(run, options, by: .server)
        } catch let error as Reconciliation.Unreadable {
            let metadata: Logger.Metadata = [
                "app": "\(error.address.bundleID)", "environment": "\(error.address.environment.rawValue)",
                "reason": "\(error.answer.failure ?? "")",
            ]
            logger.log(
                level: error.answer.isOfRefusedKey ? .debug : .warning,
                "APNs' list of channels could not be read; trying again", metadata: metadata)
        } catch {
            logger.failed("a reconciliation failed; trying again", error)
            try? await Task.sleep(for: .seconds(1))
        }
    }
}

extension APNsAnswer {
    fileprivate var isOfRefusedKey: Bool {
        if case .refused(let refusal) = self { refusal.isOfRefusedKey } else { false }
    }

    /// Why the call had no success; `nil`: the call succeeded.
    var failure: String? {
        switch self {
        case .accepted: nil
        case .refused(let refusal): refusal.reason.text
        case .unanswered(let reason), .unsent(let reason), .withheld(let reason): reason
        }
    }
}
