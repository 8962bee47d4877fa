internal import CLibPQ
private import Dispatch

/// The execution of one query or pipeline, on a connection that nothing else uses meanwhile.
///
/// libpq is driven from the caller's thread; the loop only says when the socket is ready. When the deadline passes or
/// the task is cancelled, the server is asked to cancel, and the rest of the answer is read before the error is thrown,
/// so that the connection is clean for the next one.
struct QueryExecution {
    let connection: LibPQConnection
    private var deadline: ContinuousClock.Instant
    private var isCancellable: Bool
    /// Why the server was asked to cancel.
    private(set) var interruption: PostgresError?
    private var cancellation: Task<Void, Never>?
    /// When the wait for the cancelled query's end is given up.
    private var drainEnd = ContinuousClock.now

    /// How long a cancelled query may take to end before its connection is given up.
    private static let drainBound = Duration.seconds(5)
    private static let cancelInterval = Duration.milliseconds(200)
    /// Of a quality of service of their own: those of the default one are Swift's pool, and a server that is frozen blocks
    /// them all.
    private static let threads = DispatchQueue(
        label: "grandstand.postgres.cancel", qos: .background, attributes: .concurrent)

    init(_ connection: LibPQConnection, timeout: Duration, isCancellable: Bool) {
        self.connection = connection
        self.isCancellable = isCancellable
        deadline = ContinuousClock.now + timeout
    }

    /// The next result; `nil` at the end of a query's results.
    ///
    /// - Throws: `connectionLost`; or the interruption, when the server did not end the query in time.
    mutating func nextResult() async throws(PostgresError) -> OpaquePointer? {
        while PQisBusy(connection.pointer) == 1 {
            let isFlushing = try flush()
            try await wait(isFlushing ? [.read, .write] : .read)
            guard PQconsumeInput(connection.pointer) == 1 else { throw lost() }
        }
        return PQgetResult(connection.pointer)
    }

    /// Sends what libpq holds; `true` while the socket takes no more.
    func flush() throws(PostgresError) -> Bool {
        switch PQflush(connection.pointer) {
        case 0: return false
        case 1: return true
        default: throw lost()
        }
    }

    /// Waits for the server's side of the cancellation, so that it cannot hit the next query.
    func finish() async { await cancellation?.value }

    func lost() -> PostgresError { PostgresError(.connectionLost, connection.errorMessage) }

    private mutating func wait(_ interest: SocketLoop.Interest) async throws(PostgresError) {
        let outcome = await SocketLoop.of(connection.socket).wait(
            for: interest, on: connection.socket, until: deadline, isCancellable: isCancellable)
        switch outcome {
        case .ready: return
        case .timedOut: try interrupt(PostgresError(.timedOut, "the query's time was up; it was cancelled"))
        case .cancelled: try interrupt(PostgresError(.cancelled, "the task was cancelled, and the query with it"))
        }
    }

    /// Asks the server to cancel, and again for as long as it goes on: a request that finds the server not yet at the
    /// query does nothing.
    private mutating func interrupt(_ reason: PostgresError) throws(PostgresError) {
        let now = ContinuousClock.now
        if let interruption {
            guard now < drainEnd else { throw interruption }
        } else {
            interruption = reason
            isCancellable = false
            drainEnd = now + Self.drainBound
        }
        deadline = min(drainEnd, now + Self.cancelInterval)
        guard let cancel = PQgetCancel(connection.pointer) else { throw reason }
        let handle = CancelHandle(cancel)
        let earlier = cancellation
        cancellation = Task.detached {
            await earlier?.value
            await withCheckedContinuation { continuation in
                // PQcancel opens a connection of its own and blocks for it.
                Self.threads.async {
                    handle.cancel()
                    continuation.resume()
                }
            }
        }
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
