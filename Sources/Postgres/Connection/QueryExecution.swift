internal import CLibPQ
private import Dispatch

/// The execution of one query, pipeline or script. Nothing else uses the connection meanwhile.
///
/// The caller's thread calls libpq; the loop only reports when the socket is ready. When the deadline passes or the
/// task is cancelled, the server is asked to cancel the query. The rest of the answer is read before the error is
/// thrown, so that the connection can be used again. If the query does not end in time, the connection is given up.
struct QueryExecution {
    private let connection: PostgresConnection
    private let health: PostgresHealth
    private let limits: Waits
    /// When to look again whether the query goes on.
    private var nextCheck: ContinuousClock.Instant
    private var isCancellable: Bool
    /// Why the server was asked to cancel.
    private(set) var interruption: PostgresError?
    /// Sends the cancellation requests, one after the other. PQcancel opens its own connection and blocks as long as
    /// the server is frozen. A serial queue gets its own thread. A concurrent queue has only as many threads as there
    /// are cores, and the cancellation requests would block all of these threads.
    private var cancellations: DispatchQueue?
    /// The time until which the end of a cancelled query is awaited.
    private var drainEnd = ContinuousClock.now

    /// The limits of waiting for an answer.
    struct Waits {
        var end: ContinuousClock.Instant
        /// The longest time without any answer of the server to anybody; `nil`: no limit.
        var silence: Duration?
        /// How long a cancelled query may take to end before its connection is given up.
        var drain = Duration.seconds(5)
    }

    private static let cancelInterval = Duration.milliseconds(200)

    init(_ connection: PostgresConnection, _ limits: Waits, _ health: PostgresHealth, isCancellable: Bool) {
        self.connection = connection
        self.health = health
        self.limits = limits
        self.isCancellable = isCancellable
        nextCheck = min(limits.end, .now + PostgresHealth.waitStep)
    }

    /// Checks what a function of libpq returned that sends or begins something.
    func checkSent(_ code: Int32) throws(PostgresError) {
        guard code == 1 else { throw lossError() }
    }

    /// The next result; `nil` at the end of a query's results.
    ///
    /// - Throws: `connectionLost`; the interruption if the server did not end the query in time.
    mutating func nextResult() async throws(PostgresError) -> OpaquePointer? {
        while PQisBusy(connection.pointer) == 1 {
            let unsent = PQflush(connection.pointer)
            guard unsent >= 0 else { throw lossError() }
            try await wait(orWritten: unsent > 0)
            guard PQconsumeInput(connection.pointer) == 1 else { throw lossError() }
        }
        if !connection.isBroken { health.noteAnswer() }
        return PQgetResult(connection.pointer)
    }

    /// Waits until the server has processed the cancellation, so that the cancellation cannot affect the next query.
    ///
    /// - Returns: `false` if the wait took too long. Then the connection must not be used again.
    func finishCancel() async -> Bool {
        guard let cancellations else { return true }
        let (ends, end) = AsyncStream.makeStream(of: Bool.self)
        cancellations.async { end.yield(true) }
        let timer = Task { [drain = limits.drain] in
            try await Task.sleep(for: drain)
            end.yield(false)
        }
        defer { timer.cancel() }
        // The wait is a separate task, because in a cancelled task it would end at once.
        return await Task { await ends.first { _ in true } ?? false }.value
    }

    func lossError() -> PostgresError { PostgresError(.connectionLost, connection.errorMessage) }

    private mutating func wait(orWritten: Bool) async throws(PostgresError) {
        let outcome = await SocketLoop.of(connection.socket).wait(
            for: connection.socket, orWritten: orWritten, until: nextCheck, isCancellable: isCancellable)
        switch outcome {
        case .ready: return
        case .timedOut:
            if interruption == nil {
                health.noteSilence()
                // On a busy machine, this look may have been due long ago, and the answer may have come since.
                guard limits.end <= nextCheck || health.isSilent(for: limits.silence) else {
                    nextCheck = min(limits.end, .now + PostgresHealth.waitStep)
                    return
                }
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
            // A server that is silent for so long does not even answer the cancellation.
            let isHopeless = limits.silence != nil && health.isSilent(for: .seconds(2))
            drainEnd = now + (isHopeless ? .zero : limits.drain)
        }
        nextCheck = min(drainEnd, now + Self.cancelInterval)
        guard let cancel = PQgetCancel(connection.pointer) else { throw reason }
        // libpq allows the use of one PGcancel from any thread.
        nonisolated(unsafe) let request = cancel
        let queue = cancellations ?? DispatchQueue(label: "grandstand.postgres.cancel", qos: .background)
        cancellations = queue
        queue.async {
            withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { _ = PQcancel(request, $0.baseAddress, 256) }
            PQfreeCancel(request)
        }
        guard now < drainEnd else { throw reason }
    }
}
