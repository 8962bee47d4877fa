internal import APNsWire
internal import Grandstand
internal import GrandstandContract
internal import HTTPTypes
internal import Hummingbird
internal import JSON
internal import NIOCore

/// The state of this process, for `/readyz`.
struct Readiness: Sendable {
    /// Whether the database answers and has this binary's schema.
    var database: Bool
    /// The present trouble with the database, even if requests can still be served.
    var trouble: DatabaseTrouble?
    /// A description of the problem. It contains no host names, because anybody may read it.
    var detail: String?
    /// Whether APNs could be reached by the most recent requests. It does not affect readiness, because accepted
    /// messages wait for APNs.
    var apns: [APNsEnvironment: APNsState] = [:]

    /// The last known state of APNs. Nothing is sent to find it out.
    struct APNsState: Sendable {
        enum Word: String, Sendable, CaseIterable {
            /// No request has needed a connection yet.
            case unknown
            case reachable
            /// APNs answers, but refuses a key.
            case refused
            case unreachable
        }

        var word: Word
        /// For operators: why APNs cannot be reached, or which key it refuses.
        var reason: String?

        init(_ word: Word, reason: String? = nil) {
            self.word = word
            self.reason = reason
        }
    }
}

/// The result of a lookup, as a label of the metric.
enum LookupResult: String, Sendable, CaseIterable {
    /// The answer names a channel.
    case found
    /// The caller's copy is still valid (304).
    case notModified = "not-modified"
    /// The event has no channel yet.
    case pending
    case over
    /// The event does not exist.
    case unknown
    /// The answer is the list of events to follow.
    case listed
    /// Neither the memory nor the database could answer.
    case unavailable
}

/// `/healthz`, `/readyz` and `/metrics`, for probes and for a Prometheus.
extension API {
    /// - Parameter isPrivate: `true`: on the private port. No key is needed, and answers may contain host names.
    func healthRoutes(isPrivate: Bool = false) -> [Route] {
        var numbers = Route(.metrics) { _, context in
            // The metrics contain the names of all apps, so the key must have access to all apps. On the private port,
            // no key is needed.
            guard isPrivate || context.reach == .all else { throw context.reach.refusal }
            return Response(
                status: .ok, headers: [.contentType: "text/plain; version=0.0.4; charset=utf-8"],
                body: ResponseBody(byteBuffer: ByteBuffer(bytes: metrics.exposition())))
        }
        if isPrivate { numbers.access = .open }
        return [
            Route(.health) { _, _ in .json(Contract.Health(status: "ok")) },
            Route(.readiness) { _, _ in
                var readiness = await readiness()
                if !isPrivate { readiness.apns = readiness.apns.mapValues { Readiness.APNsState($0.word) } }
                return .json(Contract.Readiness(readiness), status: readiness.database ? .ok : .serviceUnavailable)
            },
            numbers,
        ]
    }
}

extension Contract.Readiness {
    init(_ readiness: Readiness) {
        func state(_ environment: APNsEnvironment) -> Contract.APNsState {
            let state = readiness.apns[environment] ?? Readiness.APNsState(.unknown)
            return Contract.APNsState(state: .init(state.word), reason: state.reason)
        }
        self.init(
            status: readiness.database ? .ready : .notReady, database: readiness.database ? .ok : .unavailable,
            trouble: readiness.trouble.map { .init($0) }, detail: readiness.detail,
            apns: .init(development: state(.development), production: state(.production)))
    }
}
