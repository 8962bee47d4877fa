internal import NIOConcurrencyHelpers

/// An event that happens once, with any number of waiters. A waiter whose task is cancelled stops waiting.
struct ClosedSignal: Sendable {
    private struct State {
        var reason: String?
        var waiters: [Int: CheckedContinuation<String, Never>] = [:]
        var nextWaiter = 0
    }

    private let state = NIOLockedValueBox(State())

    /// Sends the signal. Only the first reason counts.
    func fire(_ reason: String) {
        let waiters = state.withLockedValue { state in
            guard state.reason == nil else { return [CheckedContinuation<String, Never>]() }
            state.reason = reason
            defer { state.waiters = [:] }
            return Array(state.waiters.values)
        }
        for waiter in waiters { waiter.resume(returning: reason) }
    }

    /// Returns the reason as soon as there is one, or `"no longer waiting"` if the task is cancelled first.
    func wait() async -> String {
        let ticket = state.withLockedValue { state in
            state.nextWaiter += 1
            return state.nextWaiter
        }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let known = state.withLockedValue { state -> String? in
                    if let reason = state.reason { return reason }
                    if Task.isCancelled { return Self.cancelled }
                    state.waiters[ticket] = continuation
                    return nil
                }
                if let known { continuation.resume(returning: known) }
            }
        } onCancel: {
            let waiter = state.withLockedValue { $0.waiters.removeValue(forKey: ticket) }
            waiter?.resume(returning: Self.cancelled)
        }
    }

    private static let cancelled = "no longer waiting"
}
