private import Dispatch
internal import Synchronization

/// A thread that waits for the sockets of connections with epoll or kqueue. A socket is armed for one event at a time, by
/// the task that uses the connection, without waking the thread. There are two such threads, each with its own sockets:
/// while one resumes callers, the other continues.
final class SocketLoop: Sendable {
    enum Outcome: Sendable, Equatable {
        case ready
        case timedOut
        case cancelled
    }

    private struct Waiter {
        let continuation: CheckedContinuation<Outcome, Never>
        let deadline: ContinuousClock.Instant
    }

    /// The loops of the process. They are never freed.
    private static let loops = [SocketLoop(), SocketLoop()]

    /// The loop that waits for `socket`. It is always the same one.
    static func of(_ socket: Int32) -> SocketLoop { loops[Int(max(0, socket)) % loops.count] }

    private let waiters = Mutex<[Int32: Waiter]>([:])
    private let poller = Poller()
    /// The milliseconds between two checks of deadlines. Deadlines are a quarter of a second or more, so this is exact
    /// enough.
    private static let tick = 25

    private init() {
        DispatchQueue(label: "grandstand.postgres.sockets", qos: .userInitiated).async { self.run() }
    }

    private func run() -> Never {
        var nextTick = ContinuousClock.now
        while true {
            poller.wait(milliseconds: Self.tick) { report($0, .ready) }
            let now = ContinuousClock.now
            guard now >= nextTick else { continue }
            nextTick = now + .milliseconds(Self.tick)
            let late = waiters.withLock { waiters in
                let late = waiters.filter { $0.value.deadline <= now }
                for socket in late.keys { waiters[socket] = nil }
                return late.values
            }
            for waiter in late { waiter.continuation.resume(returning: .timedOut) }
        }
    }

    /// Waits until the socket can be read, the deadline has passed or, if `isCancellable`, the task is cancelled.
    ///
    /// - Parameter orWritten: whether the wait also ends when the socket can be written.
    func wait(
        for socket: Int32, orWritten: Bool = false, until deadline: ContinuousClock.Instant, isCancellable: Bool = true
    ) async -> Outcome {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                waiters.withLock { $0[socket] = Waiter(continuation: continuation, deadline: deadline) }
                poller.arm(socket, orWritten: orWritten)
                // The task may have been cancelled after the handler was installed and before the waiter was.
                if isCancellable, Task.isCancelled { report(socket, .cancelled) }
            }
        } onCancel: {
            if isCancellable { report(socket, .cancelled) }
        }
    }

    /// Removes a socket that is about to be closed.
    func forget(_ socket: Int32) { poller.forget(socket) }

    private func report(_ socket: Int32, _ outcome: Outcome) {
        waiters.withLock { $0.removeValue(forKey: socket) }?.continuation.resume(returning: outcome)
    }
}
