internal import FoundationEssentials
internal import Grandstand
internal import Logging
internal import ServiceLifecycle

/// Moves broadcasts with a send time to their lanes when that time has come.
struct Scheduler: Service {
    let outbox: Outbox
    let signals: WakeSignals
    let now: @Sendable () -> Date
    let logger: Logger

    private static let batch = 100

    func run() async {
        let loop = WorkLoop<Never>(
            .init(pollInterval: .seconds(1)), failure: "scheduled broadcasts could not be sent to their lanes",
            logger: logger,
            now: now
        ) {
            while try await outbox.promote(now: now(), limit: Self.batch) > 0 {}
            return .idle(until: try await outbox.nextScheduled())
        }
        await loop.run(wakenBy: signals.wakes(.schedule))
    }
}
