internal import FoundationEssentials
internal import Grandstand
internal import Logging
internal import ServiceLifecycle

/// Moves broadcasts with a send time to their lanes when that time has come.
struct Scheduler: Service {
    private let outbox: any Outbox
    private let plan: DeliveryPlanning
    private let signals: any WakeSignals
    private let now: @Sendable () -> Date
    private let logger: Logger

    private static let batch = 100

    init(
        outbox: any Outbox, plan: @escaping DeliveryPlanning, signals: any WakeSignals,
        now: @escaping @Sendable () -> Date, logger: Logger
    ) {
        self.outbox = outbox
        self.plan = plan
        self.signals = signals
        self.now = now
        self.logger = logger
    }

    func run() async {
        let loop = WorkLoop<Never>(
            .init(pollInterval: .seconds(1)), failure: "scheduled broadcasts could not be sent to their lanes",
            logger: logger,
            now: now
        ) {
            while try await outbox.promote(now: now(), limit: Self.batch, plan: plan) > 0 {}
            return .idle(until: try await outbox.nextScheduled())
        }
        await loop.run(wakenBy: signals.wakes(.schedule))
    }
}
