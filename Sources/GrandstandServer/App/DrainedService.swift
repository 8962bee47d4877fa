internal import ServiceLifecycle

/// A service that may continue to work during the drain after a stop begins. If it still runs at the end of the drain,
/// it is cancelled. Services stop one after the other. A service that stops later still has `Drain.margin` after the
/// end of the drain to record its results.
struct DrainedService<Base: Service>: Service {
    let base: Base
    let drain: Drain

    func run() async throws {
        do {
            try await drain.run { try await base.run() }.get()
        } catch  where drain.isOver {
            // This is not an error of the service. The service was cancelled because the drain is over.
        }
    }
}
