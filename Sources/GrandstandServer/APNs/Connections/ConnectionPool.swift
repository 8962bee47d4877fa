internal import HTTP2
internal import Logging
internal import Synchronization

/// The connections to one endpoint for one team and key. APNs binds a connection to the first token on it, so
/// credentials never share a pool (docs/internals/apns.md section 5).
///
/// A connection that accepts no more requests, e.g. after GOAWAY, leaves the pool, and a new connection replaces it.
/// The open requests of the old connection can still finish.
final class ConnectionPool: Sendable {
    /// The pool is closed. Trying again is useless.
    struct Closed: Error, CustomStringConvertible {
        var description: String { "the connections to APNs are closed" }
    }

    /// There was no connection in time.
    struct Unavailable: Error, CustomStringConvertible {
        let description: String
    }

    /// A connection of the pool, with the pool's data about it.
    final class Member: Sendable {
        let connection: HTTP2ClientConnection
        private let proven = Atomic(false)

        init(_ connection: HTTP2ClientConnection) { self.connection = connection }

        var isProven: Bool { proven.load(ordering: .relaxed) }

        /// Records that APNs accepted a token on this connection.
        func tokenAccepted() {
            guard !proven.exchange(true, ordering: .relaxed) else { return }
            connection.streamsProven()
        }
    }

    private struct State {
        var members: [Member] = []
        var opening: [Int: Task<Void, Never>] = [:]
        var waiters: [Int: CheckedContinuation<Result<Void, any Error>, Never>] = [:]
        var lastTicket = 0
        /// The number of the last request. It decides which of several connections with equal load is used.
        var turn = 0
        var backoff = Backoff()
        /// The pool does not try to connect before this time.
        var pause: ContinuousClock.Instant?
        var isRetryScheduled = false
        /// Why the last attempt failed; `nil` after a success.
        var fault: HTTP2ConnectError?
        /// Set when a connection was closed because APNs was silent: the reason, and when any connection last received
        /// data.
        var silence: (reason: String, lastRead: UInt64)?
        var isClosed = false

        mutating func ticket() -> Int {
            lastTicket += 1
            return lastTicket
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
    func ready(avoiding avoided: Member? = nil) -> Member? {
        state.withLock { state in
            let members = removeUnusable(&state)
            openMore(&state, members)
            let index = avoided.flatMap { avoided in state.members.firstIndex { $0 === avoided } }
            state.turn = (state.turn + 1) % 1_000_000
            return plan.choose(members, avoiding: index, turn: state.turn).map { state.members[$0] }
        }
    }

    /// Waits until there may be a connection.
    ///
    /// - Throws: `Unavailable` after `deadline`, or at once after a failure that waiting does not cure (TLS or
    ///   ALPN); `Closed`; `CancellationError`.
    func wait(until deadline: ContinuousClock.Instant) async throws {
        let ticket = state.withLock { $0.ticket() }
        let timer = Task {
            try await Task.sleep(until: deadline, clock: .continuous)
            self.giveUp(ticket)
        }
        defer { timer.cancel() }
        let outcome = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let known = state.withLock { enqueue(continuation, ticket, &$0) }
                if let known { continuation.resume(returning: known) }
            }
        } onCancel: {
            let waiter = state.withLock { $0.waiters.removeValue(forKey: ticket) }
            waiter?.resume(returning: .failure(CancellationError()))
        }
        try outcome.get()
    }

    /// Lets requests in flight finish and closes all connections. No new ones are opened.
    func close() async {
        let (members, opening, waiters) = state.withLock { state in
            state.isClosed = true
            defer {
                state.members = []
                state.waiters = [:]
            }
            return (state.members, Array(state.opening.values), Array(state.waiters.values))
        }
        for waiter in waiters { waiter.resume(returning: .failure(Closed())) }
        for task in opening { task.cancel() }
        await withTaskGroup(of: Void.self) { group in
            for member in members { group.addTask { await member.connection.close() } }
        }
        recordGauges()
    }

    /// Updates the gauges of connections and streams in use.
    func recordGauges() {
        let loads = state.withLock { $0.members.map(\.connection.load) }.filter(\.isUsable)
        metrics.gauges(connections: loads.count, streams: loads.reduce(0) { $0 + $1.streamsInUse })
    }

    /// Whether a connection can be used now, and why the last attempt to connect failed. `silence`: why a silent
    /// connection was closed; `nil` if APNs has sent something since.
    var status: (hasOne: Bool, fault: HTTP2ConnectError?, silence: String?) {
        state.withLock { state in
            let members = removeUnusable(&state)
            if let last = state.silence?.lastRead, state.members.contains(where: { $0.connection.lastRead > last }) {
                state.silence = nil
            }
            return (!members.isEmpty, state.fault, state.silence?.reason)
        }
    }

    // MARK: Under the lock

    /// Removes connections that accept no more requests; they drain by themselves. Returns the others.
    private func removeUnusable(_ state: inout State) -> [PoolPlan.Member] {
        var members = state.members.map { PoolPlan.Member(load: $0.connection.load, isProven: $0.isProven) }
        if members.contains(where: { !$0.load.isUsable }) {
            state.members = zip(state.members, members).filter(\.1.load.isUsable).map(\.0)
            members.removeAll { !$0.load.isUsable }
        }
        return members
    }

    private func openMore(_ state: inout State, _ members: [PoolPlan.Member]) {
        guard !state.isClosed,
            plan.wantsOneMore(members, opening: state.opening.count, waiters: state.waiters.count)
        else { return }
        if let pause = state.pause, pause > .now { return retryLater(&state, at: pause) }
        let ticket = state.ticket()
        state.opening[ticket] = Task { await self.open(ticket) }
    }

    private func retryLater(_ state: inout State, at instant: ContinuousClock.Instant) {
        guard !state.isRetryScheduled else { return }
        state.isRetryScheduled = true
        Task { [weak self] in
            try? await Task.sleep(until: instant, clock: .continuous)
            self?.retry()
        }
    }

    private func enqueue(
        _ continuation: CheckedContinuation<Result<Void, any Error>, Never>, _ ticket: Int, _ state: inout State
    ) -> Result<Void, any Error>? {
        if state.isClosed { return .failure(Closed()) }
        if Task.isCancelled { return .failure(CancellationError()) }
        let members = removeUnusable(&state)
        if !members.isEmpty { return .success(()) }
        if let fault = state.fault, fault.isLasting, let pause = state.pause, pause > .now {
            return .failure(Unavailable(description: fault.message))
        }
        state.waiters[ticket] = continuation
        openMore(&state, members)
        return nil
    }

    // MARK: Opening and losing

    private func retry() {
        state.withLock { state in
            state.isRetryScheduled = false
            guard !state.waiters.isEmpty else { return }
            openMore(&state, removeUnusable(&state))
        }
    }

    private func giveUp(_ ticket: Int) {
        let (waiter, fault) = state.withLock { ($0.waiters.removeValue(forKey: ticket), $0.fault) }
        let why = fault?.message ?? "no connection to \(configuration.host):\(configuration.port) in time"
        waiter?.resume(returning: .failure(Unavailable(description: why)))
    }

    private func open(_ ticket: Int) async {
        do throws(HTTP2ConnectError) {
            let connection = try await HTTP2ClientConnection.connect(configuration, logger: logger)
            metrics.connected()
            let member = Member(connection)
            let (isClosed, waiters) = state.withLock { state in
                state.opening[ticket] = nil
                state.fault = nil
                if !state.isClosed { state.members.append(member) }
                defer { state.waiters = [:] }
                return (state.isClosed, Array(state.waiters.values))
            }
            for waiter in waiters { waiter.resume(returning: .success(())) }
            if isClosed { return await connection.close() }
            await watch(member)
        } catch {
            failed(ticket, error)
        }
    }

    private func failed(_ ticket: Int, _ error: HTTP2ConnectError) {
        metrics.failed(error.kind)
        let (failures, hopeless) = state.withLock { state in
            state.opening[ticket] = nil
            state.fault = error
            startPause(&state)
            guard error.isLasting else { return (state.backoff.failures, Array(state.waiters.values).prefix(0)) }
            defer { state.waiters = [:] }
            return (state.backoff.failures, Array(state.waiters.values)[...])
        }
        for waiter in hopeless {
            waiter.resume(returning: .failure(Unavailable(description: error.message)))
        }
        // `close()` cancels attempts to connect. That needs no warning.
        guard state.withLock({ !$0.isClosed }) else { return }
        logger.warning(
            "no connection to APNs",
            metadata: ["error": "\(error)", "step": "\(error.kind.rawValue)", "failures": "\(failures)"])
        retryIfAwaited()
    }

    /// Waits for the end of a connection, and decides how soon another may be opened.
    private func watch(_ member: Member) async {
        let reason = await member.connection.closed()
        let goAway = member.connection.goAway.map { GoAwayReason(debugData: $0.debugData) }
        if let goAway { metrics.goAway(goAway) }
        state.withLock { state in
            if member.connection.fellSilent {
                let lastRead = (state.members + [member]).map(\.connection.lastRead).max() ?? 0
                state.silence = (reason, lastRead)
            }
            state.members.removeAll { $0 === member }
            // No pause is needed if APNs accepted a token on the connection and the connection ended without a GOAWAY
            // or for a normal reason. Otherwise the pool waits before the next attempt, because the next connection
            // would probably end in the same way.
            if member.isProven, goAway?.isOrdinary ?? true {
                state.backoff.succeeded()
                state.pause = nil
            } else if member.isProven, goAway?.concernsDeviceTokens ?? false {
                state.pause = .now + state.backoff.endedByDeviceTokens(jitter: Double.random(in: 0..<1))
            } else if !state.isClosed {
                startPause(&state)
            }
        }
        let isOurs = goAway.map { !$0.isOrdinary } ?? false
        logger.log(
            level: isOurs ? .warning : .debug, "connection to APNs ended",
            metadata: ["reason": "\(reason)", "goaway": "\(goAway?.text ?? "-")"])
        retryIfAwaited()
    }

    private func startPause(_ state: inout State) {
        state.pause = .now + state.backoff.failed(jitter: Double.random(in: 0..<1))
    }

    private func retryIfAwaited() {
        state.withLock { state in
            guard !state.waiters.isEmpty else { return }
            openMore(&state, removeUnusable(&state))
        }
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
