internal import GrandstandService
internal import ServiceLifecycle

/// A service for which a stop waits until the end of the drain and no longer: what is left of it is cancelled then.
/// Services are stopped one after the other, and those that come later have the margin to write down what they have.
struct DrainedService<Base: Service>: Service {
    let base: Base
    let drain: Drain

    func run() async throws {
        do {
            try await drain.run { try await base.run() }.get()
        } catch  where drain.isOver {
            // It was cut off.
        }
    }
}
