package import FoundationEssentials
package import Grandstand
package import Logging
internal import ServiceLifecycle

/// Hands broadcasts that were accepted for later to their lanes when their time has come.
package final class Scheduler: Service {
    /// The longest sleep: then work is found whose signal was lost.
    private static let pollInterval = Duration.seconds(1)
    private static let batch = 100

    private let outbox: any Outbox
    private let plan: DeliveryPlanning
    private let signals: any WakeSignals
    private let now: @Sendable () -> Date
    private let logger: Logger

    package init(
        outbox: any Outbox, plan: @escaping DeliveryPlanning, signals: any WakeSignals,
        now: @escaping @Sendable () -> Date, logger: Logger
    ) {
        self.outbox = outbox
        self.plan = plan
        self.signals = signals
        self.now = now
        self.logger = logger
    }

    /// Runs until a graceful stop.
    package func run() async {
        let loop = WorkLoop<Never>(
            .init(pollInterval: Self.pollInterval, retry: Self.pollInterval),
            failure: "scheduled broadcasts could not be looked up; trying again", logger: logger, now: now
        ) { [outbox, now, plan] in
            while try await outbox.promote(now: now(), limit: Self.batch, plan: plan) > 0 {}
            return .idle(until: try await outbox.nextScheduled())
        }
        await loop.run(wakenBy: signals.wakes(.schedule))
    }
}
