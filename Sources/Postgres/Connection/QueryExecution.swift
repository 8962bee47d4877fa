internal import CLibPQ
private import Dispatch

/// The execution of one query or pipeline. Nothing else uses the connection meanwhile.
///
/// The caller's thread calls libpq; the loop only reports when the socket is ready. When the deadline passes or the
/// task is cancelled, the server is asked to cancel the query. The rest of the answer is read before the error is
/// thrown, so that the connection can be used again. If the query does not end in time, the connection is given up.
struct QueryExecution {
    let connection: LibPQConnection
    private let health: PostgresHealth
    private let limits: Limits
    /// The value that `health.mark` had when `deadline` was set. The mark changes with every answer of the server to
    /// any query.
    private var mark: Int64
    private var deadline: ContinuousClock.Instant
    private var isCancellable: Bool
    /// Why the server was asked to cancel.
    private(set) var interruption: PostgresError?
    private var cancellation: Cancellation?
    /// The time until which the end of a cancelled query is awaited.
    private var drainEnd = ContinuousClock.now

    /// The limits of waiting for an answer.
    struct Limits {
        var end: ContinuousClock.Instant
        /// The longest time without any answer of the server to any query; `nil`: no limit.
        var silence: Duration?
        /// When `silence` is checked for the first time; `nil`: only `end` limits the wait for the first answer.
        var firstSilence: ContinuousClock.Instant?
    }

    /// How long a cancelled query may take to end before its connection is given up. The time is short for a query with
    /// a limit of `silence`, such as a query of an HTTP request.
    private var drainBound: Duration { limits.silence == nil ? .seconds(5) : .milliseconds(500) }
    private static let cancelInterval = Duration.milliseconds(200)

    init(_ connection: LibPQConnection, _ limits: Limits, _ health: PostgresHealth, isCancellable: Bool) {
        self.connection = connection
        self.health = health
        self.limits = limits
        self.isCancellable = isCancellable
        mark = health.mark
        deadline = min(limits.end, limits.firstSilence ?? limits.end)
    }

    /// The next result; `nil` at the end of a query's results.
    ///
    /// - Throws: `connectionLost`; the interruption if the server did not end the query in time.
    mutating func nextResult() async throws(PostgresError) -> OpaquePointer? {
        while PQisBusy(connection.pointer) == 1 {
            let isFlushing = try flush()
            try await wait(isFlushing ? [.read, .write] : .read)
            guard PQconsumeInput(connection.pointer) == 1 else { throw lost() }
        }
        if !connection.isBroken { health.answered() }
        return PQgetResult(connection.pointer)
    }

    /// Sends the data that libpq holds. Returns `true` while the socket accepts no more.
    func flush() throws(PostgresError) -> Bool {
        switch PQflush(connection.pointer) {
        case 0: return false
        case 1: return true
        default: throw lost()
        }
    }

    /// Waits until the server has processed the cancellation, so that the cancellation cannot affect the next query.
    ///
    /// - Returns: `false` if the wait took too long. Then the connection must not be used again.
    func finish() async -> Bool { await cancellation?.ended(within: drainBound) ?? true }

    func lost() -> PostgresError { PostgresError(.connectionLost, connection.errorMessage) }

    private mutating func wait(_ interest: SocketLoop.Interest) async throws(PostgresError) {
        let outcome = await SocketLoop.of(connection.socket).wait(
            for: interest, on: connection.socket, until: deadline, isCancellable: isCancellable)
        switch outcome {
        case .ready: return
        case .timedOut:
            if interruption == nil {
                if let silence = limits.silence {
                    let silenceEnd = min(limits.end, health.answeredAt + silence)
                    if silenceEnd > .now {
                        // Other queries get answers, so this one may take longer.
                        mark = health.mark
                        deadline = silenceEnd
                        return
                    }
                }
                health.failed(since: mark)
            }
            try interrupt(PostgresError(.timedOut, "the query's time was up; it was cancelled"))
        case .cancelled: try interrupt(PostgresError(.cancelled, "the task was cancelled, and the query with it"))
        }
    }

    /// Asks the server to cancel the query, and repeats the request while the query continues. A request has no effect
    /// if it arrives before the query.
    private mutating func interrupt(_ reason: PostgresError) throws(PostgresError) {
        let now = ContinuousClock.now
        if let interruption {
            guard now < drainEnd else { throw interruption }
        } else {
            interruption = reason
            isCancellable = false
            drainEnd = now + (health.isAway && limits.silence != nil ? .zero : drainBound)
        }
        deadline = min(drainEnd, now + Self.cancelInterval)
        guard let cancel = PQgetCancel(connection.pointer) else { throw reason }
        cancellation = Cancellation(CancelHandle(cancel), after: cancellation)
        guard now < drainEnd else { throw reason }
    }
}

/// A cancellation request in progress.
private final class Cancellation: Sendable {
    /// This stream ends when the request has ended.
    private let ending: AsyncStream<Void>
    private let task: Task<Void, Never>

    init(_ handle: CancelHandle, after earlier: Cancellation?) {
        let (ending, end) = AsyncStream.makeStream(of: Void.self)
        self.ending = ending
        task = Task.detached {
            await earlier?.task.value
            await withCheckedContinuation { continuation in
                // PQcancel opens its own connection and blocks as long as the server is frozen. A serial queue gets its
                // own thread. A concurrent queue has only as many threads as there are cores, and the cancellation
                // requests would block all of these threads.
                DispatchQueue(label: "grandstand.postgres.cancel", qos: .background).async {
                    handle.cancel()
                    continuation.resume()
                }
            }
            end.finish()
        }
    }

    /// Waits for the end of the cancellation request, even in a cancelled task.
    ///
    /// - Returns: whether the request ended within `limit`.
    func ended(within limit: Duration) async -> Bool {
        await Task { [ending] in
            await withTaskGroup(of: Bool.self) { group in
                group.addTask {
                    for await _ in ending {}
                    return !Task.isCancelled
                }
                group.addTask {
                    try? await Task.sleep(for: limit)
                    return false
                }
                let first = await group.next() ?? false
                group.cancelAll()
                return first
            }
        }.value
    }
}

/// Owns one `PGcancel`; libpq allows its use from any thread.
private final class CancelHandle: @unchecked Sendable {
    private let pointer: OpaquePointer

    init(_ pointer: OpaquePointer) { self.pointer = pointer }

    deinit { PQfreeCancel(pointer) }

    func cancel() {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { buffer in
            _ = PQcancel(pointer, buffer.baseAddress, 256)
        }
    }
}
