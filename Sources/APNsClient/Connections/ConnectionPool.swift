internal import HTTP2
internal import Logging
internal import Synchronization

/// The connections to one endpoint for one team and key. APNs binds a connection to the first token on it, so pools are
/// never shared between credentials (docs/internals/apns.md section 5).
///
/// Each connection object is used once: when it leaves or breaks it drains and another takes its place.
final class ConnectionPool: Sendable {
    /// No connection is to be had any more; trying again is no use.
    struct Closed: Error, CustomStringConvertible {
        var description: String { "the connections to APNs are closed" }
    }

    /// There was none in time.
    struct Unavailable: Error, CustomStringConvertible {
        let description: String
    }

    /// A connection of the pool, and what the pool remembers of it.
    final class Member: Sendable {
        let connection: HTTP2ClientConnection
        private let proven = Atomic(false)

        init(_ connection: HTTP2ClientConnection) { self.connection = connection }

        var isProven: Bool { proven.load(ordering: .relaxed) }

        /// APNs accepted a token on it.
        func prove() {
            guard !proven.exchange(true, ordering: .relaxed) else { return }
            connection.streamsProven()
        }
    }

    private struct State {
        var members: [Member] = []
        var opening: [Int: Task<Void, Never>] = [:]
        var waiters: [Int: CheckedContinuation<Result<Void, any Error>, Never>] = [:]
        var lastTicket = 0
        /// The number of the last request.
        var turn = 0
        var backoff = Backoff()
        /// No attempt before then.
        var pause: ContinuousClock.Instant?
        var isRetryScheduled = false
        /// Why the last attempt failed; `nil` after a success.
        var fault: HTTP2ConnectError?
        /// Why a connection was given up on which APNs did not answer, and what any of them had read last by then.
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

    /// The best connection there is now, `nil` when there is none; opens more as the load asks for.
    ///
    /// - Parameter avoided: where the request was just refused.
    func ready(avoiding avoided: Member? = nil) -> Member? {
        state.withLock { state in
            let members = look(&state)
            openMore(&state, members)
            let index = avoided.flatMap { avoided in state.members.firstIndex { $0 === avoided } }
            state.turn = (state.turn + 1) % 1_000_000
            return plan.choose(members, avoiding: index, turn: state.turn).map { state.members[$0] }
        }
    }

    /// Waits until there may be a connection.
    ///
    /// - Throws: `Unavailable` after `deadline`, or at once when the server cannot be trusted or speaks no HTTP/2,
    ///   which waiting does not mend; `Closed`; `CancellationError`.
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

    /// Lets requests in flight finish and closes every connection; there will be no others.
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

    /// Connections and streams in use as they are now.
    func recordGauges() {
        let loads = state.withLock { $0.members.map(\.connection.load) }.filter(\.isUsable)
        metrics.gauges(connections: loads.count, streams: loads.reduce(0) { $0 + $1.streamsInUse })
    }

    /// Whether a connection can be used now, why the last attempt to make one failed, if it did, and why one was given
    /// up if nothing has come from APNs since.
    var glance: (hasOne: Bool, fault: HTTP2ConnectError?, silence: String?) {
        state.withLock { state in
            let members = look(&state)
            if let last = state.silence?.lastRead, state.members.contains(where: { $0.connection.lastRead > last }) {
                state.silence = nil
            }
            return (!members.isEmpty, state.fault, state.silence?.reason)
        }
    }

    // MARK: Under the lock

    /// Forgets connections that take no requests any more; they drain by themselves.
    private func look(_ state: inout State) -> [PoolPlan.Member] {
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
        let members = look(&state)
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
            openMore(&state, look(&state))
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
            rest(&state)
            guard error.isLasting else { return (state.backoff.failures, Array(state.waiters.values).prefix(0)) }
            defer { state.waiters = [:] }
            return (state.backoff.failures, Array(state.waiters.values)[...])
        }
        for waiter in hopeless {
            waiter.resume(returning: .failure(Unavailable(description: error.message)))
        }
        // A stop cuts attempts short: nothing to warn of.
        guard state.withLock({ !$0.isClosed }) else { return }
        logger.warning(
            "no connection to APNs",
            metadata: ["error": "\(error)", "step": "\(error.kind.rawValue)", "failures": "\(failures)"])
        retryIfAwaited()
    }

    /// Sees a connection to its end, which decides how soon another one may follow.
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
            // One that APNs never accepted anything on, or ended for a reason of ours, would be followed by its like.
            if member.isProven, goAway?.isOrdinary ?? true {
                state.backoff.succeeded()
                state.pause = nil
            } else if !state.isClosed {
                rest(&state)
            }
        }
        let isOurs = goAway.map { !$0.isOrdinary } ?? false
        logger.log(
            level: isOurs ? .warning : .debug, "connection to APNs ended",
            metadata: ["reason": "\(reason)", "goaway": "\(goAway?.text ?? "-")"])
        retryIfAwaited()
    }

    private func rest(_ state: inout State) {
        state.pause = .now + state.backoff.failed(jitter: Double.random(in: 0..<1))
    }

    private func retryIfAwaited() {
        state.withLock { state in
            guard !state.waiters.isEmpty else { return }
            openMore(&state, look(&state))
        }
    }
}

extension HTTP2ConnectError {
    /// Time alone does not mend it: certificates, names, ports, protocols, a proxy's refusal.
    var isLasting: Bool {
        switch kind {
        case .tls, .alpn, .proxy: true
        case .resolve, .connect, .settings, .timedOut: false
        }
    }
}
