internal import GrandstandService
internal import ServiceLifecycle
internal import Synchronization

/// A service for which a stop waits until the end of the drain and no longer: what is left of it is cancelled then.
/// Services are stopped one after the other, and those that come later have the margin to write down what they have.
struct DrainedService<Base: Service>: Service {
    let base: Base
    let drain: Drain

    func run() async throws {
        let cut = Mutex<Task<Void, any Error>?>(nil)
        let running = Task { try await base.run() }
        let result = await withGracefulShutdownHandler {
            await withTaskCancellationHandler {
                await running.result
            } onCancel: {
                running.cancel()
            }
        } onGracefulShutdown: {
            cut.withLock {
                $0 = Task {
                    try await drain.wait()
                    running.cancel()
                }
            }
        }
        cut.withLock { $0 }?.cancel()
        do {
            try result.get()
        } catch  where drain.isOver {
            // It was cut off.
        }
    }
}
