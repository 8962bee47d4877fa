internal import APNsWire
package import FoundationEssentials
package import Grandstand
package import Logging
internal import ServiceLifecycle

/// Reconciles every app and environment from time to time, and whenever a creation went unanswered. It changes what it
/// is sure of, and never deletes or adopts a channel made elsewhere: that is for people to ask for.
package struct Reconciler: Service {
    package struct Settings: Sendable {
        /// Seconds between runs for one app and environment; 0: only when they are needed.
        package var interval: TimeInterval
        package var grace: TimeInterval
        package var deleteBudget: Int
        /// The longest sleep.
        package var pollInterval: Duration = .seconds(5)

        package init(interval: TimeInterval, grace: TimeInterval, deleteBudget: Int) {
            self.interval = interval
            self.grace = grace
            self.deleteBudget = deleteBudget
        }
    }

    private let store: any ReconciliationStore
    private let reconciliation: Reconciliation
    private let signals: any WakeSignals
    private let settings: Settings
    private let now: @Sendable () -> Date
    private let logger: Logger

    /// Runs at a time: an app whose calls take long does not keep others waiting.
    private static let concurrency = 4

    package init(
        store: any ReconciliationStore, reconciliation: Reconciliation, signals: any WakeSignals, settings: Settings,
        now: @escaping @Sendable () -> Date, logger: Logger
    ) {
        self.store = store
        self.reconciliation = reconciliation
        self.signals = signals
        self.settings = settings
        self.now = now
        self.logger = logger
    }

    package func run() async {
        let wakes = signals.wakes(.channels)
        await cancelWhenGracefulShutdown {
            await withTaskGroup(of: Void.self) { group in
                let doorbells = (0..<Self.concurrency).map { _ in Doorbell() }
                group.addTask { for await _ in wakes { for doorbell in doorbells { doorbell.ring() } } }
                for doorbell in doorbells {
                    group.addTask {
                        while !Task.isCancelled { await doorbell.wait(atMost: await turn()) }
                    }
                }
            }
        }
    }

    /// One run, if one is due.
    ///
    /// - Returns: how long none will be.
    private func turn() async -> Duration {
        do {
            guard
                let run = try await store.claimDue(
                    interval: settings.interval, now: now(), leasedUntil: reconciliation.leasedUntil)
            else { return try await pause() }
            let options = ReconciliationOptions(
                apply: true, grace: settings.grace, deleteBudget: settings.deleteBudget)
            _ = try await reconciliation.perform(run, options, by: .server)
            return .zero
        } catch let error as Reconciliation.Unreadable {
            let metadata: Logger.Metadata = [
                "app": "\(error.address.bundleID)", "environment": "\(error.address.environment.rawValue)",
                "reason": "\(error.answer.failure ?? "")",
            ]
            logger.warning("APNs' list of channels could not be read; trying again", metadata: metadata)
            return .zero
        } catch is CancellationError {
            return .zero
        } catch {
            logger.error("a reconciliation failed; trying again", metadata: ["error": "\(error)"])
            return .seconds(1)
        }
    }

    private func pause() async throws -> Duration {
        guard let due = try await store.nextDue(interval: settings.interval, now: now()) else {
            return settings.pollInterval
        }
        return min(settings.pollInterval, max(.milliseconds(50), .seconds(due.timeIntervalSince(now()))))
    }
}

extension APNsAnswer {
    /// Why it is no success; `nil` when it is one.
    var failure: String? {
        switch self {
        case .accepted: nil
        case .refused(let refusal): refusal.reason.rawValue
        case .unanswered(let reason), .unsent(let reason), .withheld(let reason): reason
        }
    }
}
