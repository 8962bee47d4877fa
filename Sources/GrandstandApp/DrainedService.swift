internal import GrandstandService
internal import ServiceLifecycle

/// When a stop begins, the service may finish within the drain; then it is cancelled. Services stop one after the
/// other. Those that stop later have the drain's margin to record their results.
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
