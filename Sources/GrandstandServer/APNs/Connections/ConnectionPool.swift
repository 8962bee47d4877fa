internal import Grandstand
internal import GrandstandContract
internal import HTTP2
internal import Logging
internal import Synchronization

/// The connections to one endpoint for one team and key. APNs binds a connection to the first token on it, so
/// credentials never share a pool (docs/internals/apns.md section 5).
///
/// A connection that accepts no more requests, e.g. after GOAWAY, leaves the pool, and a new connection replaces it.
/// The open requests of the old connection can still finish.
final class ConnectionPool: Sendable {
    /// There is no connection.
    struct Unavailable: Error, CustomStringConvertible {
        let description: String

        /// Trying again is useless.
        static let closed = Unavailable(description: "the connections to APNs are closed")
    }

    private struct State {
        var members: [HTTP2ClientConnection] = []
        /// The attempts to connect.
        var opening: [Int: Task<Void, Never>] = [:]
        var lastTicket = 0
        /// The requests that wait for a connection.
        var waiters = 0
        /// The number of the last request. It decides which of several connections with equal load is used.
        var turn = 0
        /// Failures in a row.
        var failures = 0
        /// The pool does not try to connect before this time.
        var pause = ContinuousClock.now
        /// Why the last attempt failed; `nil` after a success.
        var fault: HTTP2ConnectError?
        /// Set when a connection was closed because APNs was silent: the reason, and when any connection last received
        /// data.
        var silence: (reason: String, lastRead: UInt64)?
        var isClosed = false

        /// Removes connections that accept no more requests; they drain by themselves. Returns the states of the
        /// others.
        mutating func usable() -> [HTTP2ConnectionState] {
            let states = members.map(\.state)
            guard !states.allSatisfy(\.isUsable) else { return states }
            members = zip(members, states).filter(\.1.isUsable).map(\.0)
            return states.filter(\.isUsable)
        }

        mutating func startPause() {
            failures += 1
            pause(by: .connections)
        }

        mutating func pause(by policy: RetryPolicy) {
            pause = .now + .seconds(policy.delay(after: failures, jitter: .random(in: 0..<1)))
        }
    }

    private let configuration: HTTP2ClientConfiguration
    private let plan: PoolPlan
    private let metrics: PoolMetrics
    private let logger: Logger
    private let state = Mutex(State())

    init(configuration: HTTP2ClientConfiguration, plan: PoolPlan, metrics: PoolMetrics, logger: Logger) {
        self.configuration = configuration
        self.plan = plan
        self.metrics = metrics
        var logger = logger
        logger[metadataKey: "host"] = "\(configuration.host)"
        logger[metadataKey: "port"] = "\(configuration.port)"
        self.logger = logger
    }

    /// The best connection now; `nil`: there is none. Opens more connections if the load requires it.
    ///
    /// - Parameter avoided: the connection that has just refused the request.
    func ready(avoiding avoided: HTTP2ClientConnection? = nil) -> HTTP2ClientConnection? {
        state.withLock { state in
            let loads = state.usable()
            openMore(&state, loads)
            let index = avoided.flatMap { avoided in state.members.firstIndex { $0 === avoided } }
            state.turn = (state.turn + 1) % 1_000_000
            return plan.choose(loads, avoiding: index, turn: state.turn).map { state.members[$0] }
        }
    }

    /// The time between two looks of a request that waits for a connection.
    private static let look: Duration = .milliseconds(25)

    /// Waits until there may be a connection.
    ///
    /// - Throws: `Unavailable` after `deadline`, or at once after a failure that waiting does not cure (TLS or
    ///   ALPN), or if the pool is closed; `CancellationError`.
    func wait(until deadline: ContinuousClock.Instant) async throws {
        state.withLock { $0.waiters += 1 }
        defer { state.withLock { $0.waiters -= 1 } }
        while try state.withLock({ try lacks(&$0, until: deadline) }) { try await Task.sleep(for: Self.look) }
    }

    /// Lets requests in flight finish and closes all connections. No new ones are opened.
    func close() async {
        let (members, opening) = state.withLock { state in
            state.isClosed = true
            defer { state.members = [] }
            return (state.members, Array(state.opening.values))
        }
        for task in opening { task.cancel() }
        await withTaskGroup(of: Void.self) { group in
            for member in members { group.addTask { await member.close() } }
        }
        recordGauges()
    }

    /// Updates the gauges of connections and streams in use.
    func recordGauges() {
        let loads = state.withLock { $0.usable() }
        metrics.gauges(connections: loads.count, streams: loads.reduce(0) { $0 + $1.streamsInUse })
    }

    /// The reachability of this pool's endpoint, judged by the pool's connections.
    var reachability: Contract.APNsState {
        state.withLock { state in
            let loads = state.usable()
            if let silence = state.silence {
                // APNs has sent something since.
                if loads.contains(where: { $0.lastRead > silence.lastRead }) {
                    state.silence = nil
                } else {
                    return .init(state: .unreachable, reason: silence.reason)
                }
            }
            if !loads.isEmpty { return .init(state: .reachable) }
            return state.fault.map { .init(state: .unreachable, reason: $0.message) } ?? .init(state: .notKnown)
        }
    }

    // MARK: Under the lock

    private func openMore(_ state: inout State, _ loads: [HTTP2ConnectionState]) {
        guard !state.isClosed, state.pause <= .now,
            plan.wantsOneMore(loads, opening: state.opening.count, waiters: state.waiters)
        else { return }
        state.lastTicket += 1
        state.opening[state.lastTicket] = Task { [ticket = state.lastTicket] in await self.open(ticket) }
    }

    /// Whether a request must go on waiting for a connection.
    private func lacks(_ state: inout State, until deadline: ContinuousClock.Instant) throws(Unavailable) -> Bool {
        if state.isClosed { throw .closed }
        let loads = state.usable()
        if !loads.isEmpty { return false }
        if let fault = state.fault, fault.isLasting, state.pause > .now { throw unavailable(fault) }
        if deadline <= .now { throw unavailable(state.fault) }
        openMore(&state, loads)
        return true
    }

    private func unavailable(_ fault: HTTP2ConnectError?) -> Unavailable {
        Unavailable(
            description: fault?.message ?? "no connection to \(configuration.host):\(configuration.port) in time")
    }

    // MARK: Opening and losing

    private func open(_ ticket: Int) async {
        do throws(HTTP2ConnectError) {
            let connection = try await HTTP2ClientConnection.connect(configuration, logger: logger)
            metrics.connected()
            let isClosed = state.withLock { state in
                state.opening[ticket] = nil
                state.fault = nil
                if !state.isClosed { state.members.append(connection) }
                return state.isClosed
            }
            if isClosed { return await connection.close() }
            await watch(connection)
        } catch {
            failed(ticket, error)
        }
    }

    private func failed(_ ticket: Int, _ error: HTTP2ConnectError) {
        metrics.failed(error.kind)
        let (failures, isClosed) = state.withLock { state in
            state.opening[ticket] = nil
            state.fault = error
            state.startPause()
            return (state.failures, state.isClosed)
        }
        // `close()` cancels attempts to connect. That needs no warning.
        guard !isClosed else { return }
        logger.warning(
            "no connection to APNs",
            metadata: ["error": "\(error)", "step": "\(error.kind.rawValue)", "failures": "\(failures)"])
    }

    /// Waits for the end of a connection, and decides how soon another may be opened.
    private func watch(_ connection: HTTP2ClientConnection) async {
        let reason = await connection.closed()
        let last = connection.state
        let goAway = last.goAway.map { GoAwayReason(debugData: $0.debugData) }
        if let goAway { metrics.goAway(goAway) }
        state.withLock { state in
            if last.fellSilent {
                state.silence = (reason, (state.members.map(\.state) + [last]).map(\.lastRead).max() ?? 0)
            }
            state.members.removeAll { $0 === connection }
            // No pause is needed if APNs accepted a token on the connection and the connection ended without a GOAWAY
            // or for a normal reason. Otherwise the pool waits before the next attempt, because the next connection
            // would probably end in the same way.
            if last.isProven, goAway?.isOrdinary ?? true {
                state.failures = 0
                state.pause = .now
            } else if last.isProven, goAway?.concernsDeviceTokens ?? false {
                state.pause(by: .deviceTokens)
            } else if !state.isClosed {
                state.startPause()
            }
        }
        let isOurs = goAway.map { !$0.isOrdinary } ?? false
        logger.log(
            level: isOurs ? .warning : .debug, "connection to APNs ended",
            metadata: ["reason": "\(reason)", "goaway": "\(goAway?.text ?? "-")"])
    }
}

extension HTTP2ConnectError {
    /// Whether waiting does not help: TLS failed (also because of a wrong host name or port), or the server does not
    /// speak HTTP/2.
    var isLasting: Bool {
        switch kind {
        case .tls, .alpn: true
        case .resolve, .connect, .settings, .timedOut: false
        }
    }
}
