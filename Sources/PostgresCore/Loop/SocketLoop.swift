private import Dispatch
internal import Synchronization

#if canImport(Glibc)
    internal import CLibPQ
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#elseif canImport(Musl)
    internal import CLibPQ
    internal import Musl
#endif

/// One thread that waits for the sockets of all connections, with epoll or kqueue, each socket armed for one report.
///
/// Whoever drives a connection arms its socket straight from its own thread: no wake-up of the loop is needed for that.
final class SocketLoop: Sendable {
    struct Interest: OptionSet, Sendable {
        let rawValue: UInt8
        static let read = Interest(rawValue: 1)
        static let write = Interest(rawValue: 2)
    }

    enum Outcome: Sendable, Equatable {
        case ready
        case timedOut
        case cancelled
    }

    private struct Waiter {
        let continuation: CheckedContinuation<Outcome, Never>
        let deadline: ContinuousClock.Instant?
    }

    private struct State {
        var waiters: [Int32: Waiter] = [:]
        var isTicking = false
    }

    /// The process' loop. It lives as long as the process.
    static let shared = SocketLoop()

    private let state = Mutex(State())
    private let poller: Poller
    private let timers = DispatchQueue(label: "grandstand.postgres.deadlines")
    /// Deadlines are looked at this often: they are seconds long.
    private static let tick = DispatchTimeInterval.milliseconds(25)

    private init() {
        poller = Poller()
        let thread = DispatchQueue(label: "grandstand.postgres.sockets", qos: .userInitiated)
        thread.async { [poller] in
            while true { poller.wait { SocketLoop.shared.report($0, .ready) } }
        }
    }

    /// Waits until the socket is ready, the deadline has passed, or, if `isCancellable`, the task is cancelled.
    func wait(
        for interest: Interest, on descriptor: Int32, until deadline: ContinuousClock.Instant?, isCancellable: Bool
    ) async -> Outcome {
        guard isCancellable else { return await arm(interest, descriptor, deadline, isCancellable: false) }
        return await withTaskCancellationHandler {
            await arm(interest, descriptor, deadline, isCancellable: true)
        } onCancel: {
            report(descriptor, .cancelled)
        }
    }

    private func arm(
        _ interest: Interest, _ descriptor: Int32, _ deadline: ContinuousClock.Instant?, isCancellable: Bool
    ) async -> Outcome {
        await withCheckedContinuation { continuation in
            state.withLock { $0.waiters[descriptor] = Waiter(continuation: continuation, deadline: deadline) }
            poller.arm(descriptor, interest)
            // A cancellation may have come between the handler's installation and the waiter's.
            if isCancellable, Task.isCancelled { report(descriptor, .cancelled) }
            if deadline != nil { startTicking() }
        }
    }

    /// Forgets a socket that is about to be closed.
    func forget(_ descriptor: Int32) { poller.forget(descriptor) }

    private func report(_ descriptor: Int32, _ outcome: Outcome) {
        let waiter = state.withLock { $0.waiters.removeValue(forKey: descriptor) }
        waiter?.continuation.resume(returning: outcome)
    }

    private func startTicking() {
        let starts = state.withLock { state in
            defer { state.isTicking = true }
            return !state.isTicking
        }
        if starts { scheduleTick() }
    }

    private func scheduleTick() {
        timers.asyncAfter(deadline: .now() + Self.tick) { [self] in
            let now = ContinuousClock.now
            let (late, goesOn) = state.withLock { state in
                let late = state.waiters.filter { $0.value.deadline.map { $0 <= now } ?? false }
                for descriptor in late.keys { state.waiters[descriptor] = nil }
                let goesOn = state.waiters.values.contains { $0.deadline != nil }
                state.isTicking = goesOn
                return (late, goesOn)
            }
            for waiter in late.values { waiter.continuation.resume(returning: .timedOut) }
            if goesOn { scheduleTick() }
        }
    }
}
