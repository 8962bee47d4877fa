internal import GrandstandService
internal import ServiceLifecycle

/// Limits a service's stop to the drain; what still runs then is cancelled. Services stop one after the other, and
/// later ones have the drain's margin to record their results.
struct DrainedService<Base: Service>: Service {
    let base: Base
    let drain: Drain

    func run() async throws {
        do {
            try await drain.run { try await base.run() }.get()
        } catch  where drain.isOver {
            // The drain ended and cancelled the service.
        }
    }
}
