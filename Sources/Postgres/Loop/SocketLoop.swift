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
        let deadline: ContinuousClock.Instant
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

    private let waiters = Mutex<[Int32: Waiter]>([:])
    private let jobs = Mutex(Jobs())
    private let poller = Poller()
    /// The milliseconds between two checks of deadlines. Deadlines are seconds long, so this is exact enough.
    private static let tick = 25

    private init() {
        DispatchQueue(label: "grandstand.postgres.sockets", qos: .userInitiated).async { self.run() }
    }

    private func run() -> Never {
        var nextTick = ContinuousClock.now
        while true {
            let sleeps = jobs.withLock { jobs in
                jobs.loopSleeps = jobs.queue.isEmpty
                return jobs.loopSleeps
            }
            poller.wait(milliseconds: sleeps ? Self.tick : 0) { report($0, .ready) }
            let batch = jobs.withLock { jobs in
                jobs.loopSleeps = false
                defer { jobs.queue.removeAll(keepingCapacity: true) }
                return jobs.queue
            }
            for job in batch { job.runSynchronously(on: asUnownedTaskExecutor()) }
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
        for interest: Interest, on socket: Int32, until deadline: ContinuousClock.Instant, isCancellable: Bool
    ) async -> Outcome {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                waiters.withLock { $0[socket] = Waiter(continuation: continuation, deadline: deadline) }
                poller.arm(socket, interest)
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
