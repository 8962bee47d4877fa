internal import APNsWire
internal import Grandstand
internal import GrandstandContract
internal import HTTP2
internal import JSON
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
        /// Whether an attempt to connect is under way.
        var isOpening = false
        /// The number of the last request. It decides which of several connections with equal load is used.
        var turn = 0
        /// Failures in a row.
        var failures = 0
        /// The pool does not try to connect before this time.
        var pause = ContinuousClock.now
        /// Why the last attempt failed, or why a connection was closed because APNs was silent, and when any connection
        /// had last received data then; `nil` after a success. A fault that is `lasting` is not cured by waiting: TLS
        /// failed (also because of a wrong host name or port), or the server does not speak HTTP/2.
        var trouble: (reason: String, lastRead: UInt64, isLasting: Bool)?
        var isClosed = false

        /// Removes connections that accept no more requests; they drain by themselves. Returns the states of the
        /// others.
        mutating func usable() -> [HTTP2ConnectionState] {
            let states = members.map(\.state)
            guard !states.allSatisfy(\.isUsable) else { return states }
            members = zip(members, states).filter(\.1.isUsable).map(\.0)
            return states.filter(\.isUsable)
        }

        mutating func startPause(_ policy: RetryPolicy = .connections) {
            if policy == .connections { failures += 1 }
            pause = .now + .seconds(policy.delay(after: failures, jitter: .random(in: 0..<1)))
        }
    }

    private let configuration: HTTP2ClientConfiguration
    private let plan: PoolPlan
    private let metrics: ServerMetrics
    private let labels: [String]
    private let logger: Logger
    private let state = Mutex(State())

    /// - Parameter labels: the values of the labels of its metrics. Each has few values.
    init(
        _ configuration: HTTP2ClientConfiguration, _ plan: PoolPlan, _ metrics: ServerMetrics,
        _ labels: [String], logger: Logger
    ) {
        (self.configuration, self.plan, self.metrics, self.labels) = (configuration, plan, metrics, labels)
        var logger = logger
        logger[metadataKey: "host"] = "\(configuration.host)"
        logger[metadataKey: "port"] = "\(configuration.port)"
        self.logger = logger
        // A series that begins with 1 shows no increase.
        count("grandstand_apns_connects_total", "ok", 0)
    }

    private func count(_ name: String, _ label: String, _ number: Int64 = 1) {
        metrics.series(name, labels + [label]).increment(by: number)
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

    /// Waits until there may be a connection.
    ///
    /// - Throws: `Unavailable` after `deadline`, or at once after a failure that waiting does not cure (TLS or
    ///   ALPN), or if the pool is closed; `CancellationError`.
    func wait(until deadline: ContinuousClock.Instant) async throws {
        while try state.withLock({ try lacks(&$0, until: deadline) }) { try await Task.sleep(for: .milliseconds(25)) }
    }

    /// Lets requests in flight finish and closes all connections. No new ones are opened.
    func close() async {
        let members = state.withLock { state in
            state.isClosed = true
            defer { state.members = [] }
            return state.members
        }
        await withTaskGroup(of: Void.self) { group in
            for member in members { group.addTask { await member.close() } }
        }
        recordGauges()
    }

    /// Updates the gauges of connections and streams in use.
    func recordGauges() {
        let loads = state.withLock { $0.usable() }
        metrics.series("grandstand_apns_connections", labels).record(Double(loads.count))
        metrics.series("grandstand_apns_streams_in_use", labels).record(
            Double(loads.reduce(0) { $0 + $1.streamsInUse }))
    }

    /// The reachability of this pool's endpoint, judged by the pool's connections.
    var reachability: Contract.APNsState {
        state.withLock { state in
            let loads = state.usable()
            // Whether APNs has sent something since.
            if let trouble = state.trouble, !loads.contains(where: { $0.lastRead > trouble.lastRead }) {
                return .init(state: .unreachable, reason: trouble.reason)
            }
            return .init(state: loads.isEmpty ? .notKnown : .reachable)
        }
    }

    // MARK: Under the lock

    private func openMore(_ state: inout State, _ loads: [HTTP2ConnectionState]) {
        guard !state.isClosed, !state.isOpening, state.pause <= .now, plan.wantsOneMore(loads) else { return }
        state.isOpening = true
        Task { await open() }
    }

    /// Whether a request must go on waiting for a connection.
    private func lacks(_ state: inout State, until deadline: ContinuousClock.Instant) throws(Unavailable) -> Bool {
        if state.isClosed { throw .closed }
        let loads = state.usable()
        if !loads.isEmpty { return false }
        if (state.trouble?.isLasting ?? false) && state.pause > .now || deadline <= .now {
            let late = "no connection to \(configuration.host):\(configuration.port) in time"
            throw Unavailable(description: state.trouble?.reason ?? late)
        }
        openMore(&state, loads)
        return true
    }

    // MARK: Opening and losing

    private func open() async {
        let connection: HTTP2ClientConnection
        do throws(HTTP2ConnectError) {
            connection = try await HTTP2ClientConnection.connect(configuration, logger: logger)
        } catch {
            return failed(error)
        }
        count("grandstand_apns_connects_total", "ok")
        let isClosed = state.withLock { state in
            state.isOpening = false
            state.trouble = nil
            if !state.isClosed { state.members.append(connection) }
            return state.isClosed
        }
        if isClosed { await connection.close() } else { await watch(connection) }
    }

    private func failed(_ error: HTTP2ConnectError) {
        count("grandstand_apns_connects_total", error.kind.rawValue)
        let (failures, isClosed) = state.withLock { state in
            state.isOpening = false
            state.trouble = (error.message, state.trouble?.lastRead ?? 0, [.tls, .alpn].contains(error.kind))
            state.startPause()
            return (state.failures, state.isClosed)
        }
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
        if let goAway { count("grandstand_apns_goaways_total", goAway.label) }
        state.withLock { state in
            if last.fellSilent {
                state.trouble = (reason, (state.members.map(\.state) + [last]).map(\.lastRead).max() ?? 0, false)
            }
            state.members.removeAll { $0 === connection }
            // No pause is needed if APNs accepted a token on the connection and the connection ended without a GOAWAY
            // or for a normal reason. Otherwise the pool waits before the next attempt, because the next connection
            // would probably end in the same way.
            if last.isProven, goAway?.isOrdinary ?? true {
                state.failures = 0
                state.pause = .now
            } else {
                state.startPause(last.isProven && goAway?.concernsDeviceTokens ?? false ? .deviceTokens : .connections)
            }
        }
        let isOurs = goAway.map { !$0.isOrdinary } ?? false
        logger.log(
            level: isOurs ? .warning : .debug, "connection to APNs ended",
            metadata: ["reason": "\(reason)", "goaway": "\(goAway?.text ?? "-")"])
    }
}

/// Decides the next steps of a pool from the states of its usable connections. It is a pure value without sockets and
/// clocks.
struct PoolPlan {
    /// The normal number of connections. Up to this number, the pool opens another connection if every connection has a
    /// request, even if none is full.
    let target: Int
    /// The most connections under load.
    let bound: Int

    /// The number of requests on a connection above which another connection helps. APNs' windows hold about a hundred
    /// messages (docs/internals/http2.md).
    static let full = 100

    init(target: Int, bound: Int) {
        self.target = target
        self.bound = max(target, bound)
    }

    /// The connection for the next request: the least loaded of those with a free stream, otherwise the one with the
    /// fewest waiting requests.
    ///
    /// - Parameters:
    ///   - avoided: the connection of the previous try. It is used only if there is no other.
    ///   - turn: the number of the request. Connections with equal load take turns, so that a limit that APNs has for
    ///     each connection does not always affect the same connection.
    func choose(_ members: [HTTP2ConnectionState], avoiding avoided: Int? = nil, turn: Int = 0) -> Int? {
        func rank(_ index: Int) -> (avoided: Int, full: Int, load: Int) {
            let (free, requests) = (members[index].free, members[index].requests)
            return (index == avoided ? 1 : 0, free > 0 ? 0 : 1, free > 0 ? requests : -free)
        }
        // The first of equals is chosen.
        return members.indices.map { ($0 + turn) % members.count }.min { rank($0) < rank($1) }
    }

    /// Whether one more connection should be opened now. Connections are opened one at a time.
    func wantsOneMore(_ members: [HTTP2ConnectionState]) -> Bool {
        if members.count < target { return members.allSatisfy { $0.requests > 0 } }
        // Above the normal number, a connection is opened only when APNs has accepted a token on every existing
        // connection and all of them are full. Before APNs accepts a token, a connection has only one stream, so its
        // load says nothing about its capacity.
        return members.count < bound
            && members.allSatisfy { $0.isProven && ($0.requests >= Self.full || $0.free <= 0) }
    }
}

/// Why APNs ended a connection: `{"reason":"…"}` in GOAWAY's debug data (docs/internals/apns.md 6).
struct GoAwayReason: Equatable {
    /// The reason in APNs' words, at most 100 characters; `nil`: there is no readable reason.
    var text: String?

    init(debugData: [UInt8]) {
        guard let reason = (try? JSONValue(parsing: debugData))?["reason"]?.string, !reason.isEmpty else { return }
        text = String(reason.prefix(100))
    }

    /// Whether the reason is normal for a server, so that a new connection may be opened at once. Any other reason is
    /// about mistakes in the requests, so APNs would end the next connection for the same reason.
    var isOrdinary: Bool {
        switch text {
        case nil, "Shutdown", "IdleTimeout", "InternalServerError", "ServiceUnavailable": true
        default: false
        }
    }

    /// Whether APNs ended the connection because too many device tokens on it were wrong. An app's own users can cause
    /// that with made-up tokens, so other pushes must not wait long for the next connection.
    var concernsDeviceTokens: Bool { ServerMetrics.tokenReasons.contains { $0.rawValue == text } }

    /// The value for metrics: the reason if it has only letters, at most 40; `none` without a reason. Other texts
    /// become `other`, so that there are few label values.
    var label: String {
        switch text {
        case nil: "none"
        case let text? where isOrdinary || text.allSatisfy { $0.isASCII && $0.isLetter } && text.count <= 40: text
        default: "other"
        }
    }
}
