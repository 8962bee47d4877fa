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
    private struct State {
        var members: [HTTP2ClientConnection] = []
        /// Whether an attempt to connect is under way.
        var isOpening = false
        /// Failures in a row.
        var failures = 0
        /// The pool does not try to connect before this time.
        var waitEnd = ContinuousClock.now
        /// Why the last attempt failed, or why the last connection was closed because APNs was silent; `nil` after a
        /// success.
        var trouble: String?
        var isClosed = false

        /// Removes connections that accept no more requests; they drain by themselves. Returns the states of the
        /// others.
        mutating func prune() -> [HTTP2ConnectionState] {
            members.removeAll { !$0.state.isUsable }
            return members.map(\.state)
        }

        mutating func startPause() {
            failures += 1
            waitEnd = .now + .seconds(RetryPolicy.connections.delay(after: failures, jitter: .random(in: 0..<1)))
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
        self.logger = logger
        // A series that begins with 1 shows no increase.
        count("grandstand_apns_connects_total", "ok", 0)
    }

    private func count(_ name: String, _ label: String, _ number: Int64 = 1) {
        metrics.series(name, labels + [label]).increment(by: number)
    }

    /// The best connection now; `nil`: there is none yet. Opens more connections if the load requires it.
    ///
    /// - Parameter avoided: the connection that has just refused the request.
    func best(avoiding avoided: HTTP2ClientConnection? = nil) -> HTTP2ClientConnection? {
        state.withLock { state in
            let loads = state.prune()
            if !state.isClosed, !state.isOpening, state.waitEnd <= .now, plan.wantsOneMore(loads) {
                state.isOpening = true
                Task { await open() }
            }
            let index = avoided.flatMap { avoided in state.members.firstIndex { $0 === avoided } }
            return plan.choose(loads, avoiding: index).map { state.members[$0] }
        }
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
        let loads = state.withLock { $0.prune() }
        metrics.series("grandstand_apns_connections", labels).record(Double(loads.count))
        metrics.series("grandstand_apns_streams_in_use", labels).record(
            Double(loads.reduce(0) { $0 + $1.streamsInUse }))
    }

    /// The reachability of this pool's endpoint, judged by the pool's connections.
    var reachability: Contract.APNsState {
        state.withLock { state in
            if !state.prune().isEmpty { return .init(state: .reachable) }
            return .init(state: state.trouble == nil ? .notKnown : .unreachable, reason: state.trouble)
        }
    }

    private func open() async {
        let connection: HTTP2ClientConnection
        do throws(HTTP2ConnectError) {
            connection = try await HTTP2ClientConnection.connect(configuration, logger: logger)
        } catch {
            count("grandstand_apns_connects_total", error.kind.rawValue)
            state.withLock { state in
                state.isOpening = false
                state.trouble = error.message
                state.startPause()
            }
            return logger.warning("no connection to APNs", metadata: ["host": "\(labels[0])", "error": "\(error)"])
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

    /// Waits for the end of a connection, and decides how soon another may be opened.
    private func watch(_ connection: HTTP2ClientConnection) async {
        let end = await connection.untilClosed()
        let last = connection.state
        let reason = last.goAway.flatMap { APNsReason(json: try? JSONValue(parsing: $0.debugData)) }
        if last.goAway != nil { count("grandstand_apns_goaways_total", reason?.label ?? "none") }
        // Any other reason is about mistakes in the requests, so APNs would end the next connection for the same reason.
        let isOrdinary = reason.map { $0.meaning(status: 0) == .unavailable } ?? true
        state.withLock { state in
            if last.fellSilent { state.trouble = end }
            state.members.removeAll { $0 === connection }
            // No pause is needed if APNs accepted a token on the connection and the connection ended without a GOAWAY
            // or for a normal reason. Otherwise the pool waits before the next attempt, because the next connection
            // would probably end in the same way. The pause does not grow if the connection had worked, because an app's
            // own users can cause its end with made-up device tokens.
            guard last.isProven else { return state.startPause() }
            (state.failures, state.waitEnd) = (0, .now + .seconds(isOrdinary ? 0 : 1))
        }
        logger.log(
            level: isOrdinary ? .debug : .warning, "connection to APNs ended",
            metadata: ["host": "\(labels[0])", "reason": "\(end)", "goaway": "\(reason?.spelling ?? "-")"])
    }
}

extension APNsReason {
    /// The reason in the body of a refusal, or in the data of a GOAWAY (docs/internals/apns.md 6); `nil`: there is none.
    init?(json: JSONValue?) {
        guard let text = json?["reason"]?.string, !text.isEmpty else { return nil }
        self.init(rawValue: String(text.prefix(200)))
    }

    /// The value for metrics. Unknown reasons are `other`, so that APNs cannot create any number of time series.
    var label: String { status == nil ? "other" : rawValue }
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
    static let fullAt = 100

    /// The connection for the next request: the least loaded of those with a free stream, otherwise the one with the
    /// fewest waiting requests.
    ///
    /// - Parameter avoided: the connection of the previous try. It is used only if there is no other.
    func choose(_ members: [HTTP2ConnectionState], avoiding avoided: Int? = nil) -> Int? {
        func rank(_ index: Int) -> (avoided: Int, full: Int, load: Int) {
            let (free, requests) = (members[index].free, members[index].requests)
            return (index == avoided ? 1 : 0, free > 0 ? 0 : 1, free > 0 ? requests : -free)
        }
        return members.indices.min { rank($0) < rank($1) }
    }

    /// Whether one more connection should be opened now. Connections are opened one at a time.
    func wantsOneMore(_ members: [HTTP2ConnectionState]) -> Bool {
        if members.count < target { return members.allSatisfy { $0.requests > 0 } }
        // Above the normal number, a connection is opened only when APNs has accepted a token on every existing
        // connection and all of them are full. Before APNs accepts a token, a connection has only one stream, so its
        // load says nothing about its capacity.
        return members.count < bound
            && members.allSatisfy { $0.isProven && ($0.requests >= Self.fullAt || $0.free <= 0) }
    }
}
