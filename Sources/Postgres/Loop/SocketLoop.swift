private import Dispatch
internal import Synchronization

/// A thread that waits for the sockets of connections with epoll or kqueue. A socket is armed for one event at a time.
/// There are two such threads, each with its own sockets: while one resumes callers, the other continues.
///
/// The task that uses a connection arms the connection's socket from the task's own thread, without waking the loop.
/// The loop is also a task executor: a task that prefers the loop is resumed on the loop's thread, which saves waking
/// another thread for each answer.
final class SocketLoop: TaskExecutor {
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

    private struct Waiters {
        var bySocket: [Int32: Waiter] = [:]
        var isTicking = false
    }

    private struct Jobs {
        var queue: [UnownedJob] = []
        /// Whether the loop waits in the kernel, so that it must be woken for a job.
        var loopSleeps = false
    }

    /// The loops of the process. They are never freed.
    private static let loops = [SocketLoop(), SocketLoop()]

    /// The loop that waits for `socket`. It is always the same one.
    static func of(_ socket: Int32) -> SocketLoop { loops[Int(max(0, socket)) % loops.count] }

    private let waiters = Mutex(Waiters())
    private let jobs = Mutex(Jobs())
    private let poller = Poller()
    private let timers = DispatchQueue(label: "grandstand.postgres.deadlines")
    /// The time between two checks of deadlines. Deadlines are seconds long, so this is exact enough.
    private static let tick = DispatchTimeInterval.milliseconds(25)

    private init() {
        DispatchQueue(label: "grandstand.postgres.sockets", qos: .userInitiated).async { self.run() }
    }

    private func run() -> Never {
        while true {
            let sleeps = jobs.withLock { jobs in
                jobs.loopSleeps = jobs.queue.isEmpty
                return jobs.loopSleeps
            }
            poller.wait(blocking: sleeps) { report($0, .ready) }
            let batch = jobs.withLock { jobs in
                jobs.loopSleeps = false
                defer { jobs.queue.removeAll(keepingCapacity: true) }
                return jobs.queue
            }
            for job in batch { job.runSynchronously(on: asUnownedTaskExecutor()) }
        }
    }

    // MARK: Tasks

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let wakes = jobs.withLock { jobs in
            jobs.queue.append(job)
            defer { jobs.loopSleeps = false }
            return jobs.loopSleeps
        }
        if wakes { poller.wake() }
    }

    // MARK: Sockets

    /// Waits until the socket is ready, the deadline has passed or, if `isCancellable`, the task is cancelled.
    func wait(
        for interest: Interest, on socket: Int32, until deadline: ContinuousClock.Instant?, isCancellable: Bool
    ) async -> Outcome {
        guard isCancellable else { return await arm(interest, socket, deadline, isCancellable: false) }
        return await withTaskCancellationHandler {
            await arm(interest, socket, deadline, isCancellable: true)
        } onCancel: {
            report(socket, .cancelled)
        }
    }

    /// Removes a socket that is about to be closed.
    func forget(_ socket: Int32) { poller.forget(socket) }

    private func arm(
        _ interest: Interest, _ socket: Int32, _ deadline: ContinuousClock.Instant?, isCancellable: Bool
    ) async -> Outcome {
        await withCheckedContinuation { continuation in
            waiters.withLock { $0.bySocket[socket] = Waiter(continuation: continuation, deadline: deadline) }
            poller.arm(socket, interest)
            // The task may have been cancelled after the handler was installed and before the waiter was.
            if isCancellable, Task.isCancelled { report(socket, .cancelled) }
            if deadline != nil { startTicking() }
        }
    }

    private func report(_ socket: Int32, _ outcome: Outcome) {
        let waiter = waiters.withLock { $0.bySocket.removeValue(forKey: socket) }
        waiter?.continuation.resume(returning: outcome)
    }

    // MARK: Deadlines

    private func startTicking() {
        let starts = waiters.withLock { waiters in
            defer { waiters.isTicking = true }
            return !waiters.isTicking
        }
        if starts { scheduleTick() }
    }

    private func scheduleTick() {
        timers.asyncAfter(deadline: .now() + Self.tick) { [self] in
            let now = ContinuousClock.now
            let (late, goesOn) = waiters.withLock { waiters in
                let late = waiters.bySocket.filter { $0.value.deadline.map { $0 <= now } ?? false }
                for socket in late.keys { waiters.bySocket[socket] = nil }
                waiters.isTicking = waiters.bySocket.values.contains { $0.deadline != nil }
                return (late, waiters.isTicking)
            }
            for waiter in late.values { waiter.continuation.resume(returning: .timedOut) }
            if goesOn { scheduleTick() }
        }
    }
}
