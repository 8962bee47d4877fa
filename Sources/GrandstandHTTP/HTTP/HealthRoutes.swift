package import APNsWire
package import Grandstand
internal import GrandstandContract
internal import HTTPTypes
internal import Hummingbird
internal import JSON
internal import NIOCore

/// What the process can say of itself, for `/readyz`.
package struct Readiness: Sendable {
    /// The database answers and has this binary's schema.
    package var database: Bool
    /// The trouble that stands, whether or not it keeps requests from being served.
    package var trouble: DatabaseTrouble?
    /// What stands in the way, in words. Without names of hosts and the like: anybody may read it.
    package var detail: String?
    /// How APNs was reached lately; told, not required: what is accepted waits for it.
    package var apns: [APNsEnvironment: APNsState]

    package init(
        database: Bool, trouble: DatabaseTrouble? = nil, detail: String? = nil, apns: [APNsEnvironment: APNsState] = [:]
    ) {
        self.database = database
        self.trouble = trouble
        self.detail = detail
        self.apns = apns
    }

    /// What is known of APNs without asking.
    package struct APNsState: Sendable {
        package enum Word: String, Sendable, CaseIterable {
            /// No request needed a connection yet.
            case unknown
            case reachable
            /// It answers, and refuses a key.
            case refused
            case unreachable
        }

        package var word: Word
        /// Why it cannot be reached, or which key it refuses: for operators.
        package var reason: String?

        package init(_ word: Word, reason: String? = nil) {
            self.word = word
            self.reason = reason
        }
    }
}

/// Counts what the API answers, and tells all that this process counts.
package protocol OperationMetrics: Sendable {
    /// - Parameter path: the route's path; `nil` when there is none, so that no outside party decides how many series
    ///   there are.
    func answered(method: String, path: String?, status: Int, time: Duration)

    /// The same for answers of one kind, found once and called by the million.
    func answers(method: String, path: String, status: Int) -> @Sendable (_ time: Duration) -> Void

    /// Counts lookups that come to the same, found once and called by the million.
    func lookups(_ result: LookupResult) -> @Sendable () -> Void

    /// Everything, in Prometheus' text format.
    func exposition() -> [UInt8]
}

/// What a lookup comes to, as it is counted.
package enum LookupResult: String, Sendable, CaseIterable {
    /// A channel was named.
    case found
    /// The caller has the answer already (304).
    case notModified = "not-modified"
    /// There is no channel yet.
    case pending
    case over
    /// No such event.
    case unknown
    /// What may be followed was listed.
    case listed
    /// Neither memory nor the database could be asked.
    case unavailable
}

/// `/healthz`, `/readyz` and `/metrics`, for probes and for a Prometheus.
struct HealthRoutes: Sendable {
    /// On a port that only operators reach: no key is asked for, and names are named.
    let isPrivate: Bool
    let readiness: @Sendable () async -> Readiness
    let metrics: any OperationMetrics

    var routes: [Route] {
        [
            Route(.health) { _, _ in
                .json(Contract.Health(status: "ok"))
            },
            Route(.readiness, ready),
            numbers,
        ]
    }

    private var numbers: Route {
        var route = Route(.metrics) { [metrics, isPrivate] _, context in
            // They name all apps.
            guard isPrivate || context.reach == .all else { throw context.reach.refusal }
            return Response(
                status: .ok, headers: [.contentType: "text/plain; version=0.0.4; charset=utf-8"],
                body: ResponseBody(byteBuffer: ByteBuffer(bytes: metrics.exposition())))
        }
        if isPrivate { route.access = .open }
        return route
    }

    private func ready(_ request: Request, _ context: APIContext) async throws -> Response {
        var readiness = await readiness()
        if !isPrivate { readiness.apns = readiness.apns.mapValues { Readiness.APNsState($0.word) } }
        return .json(Contract.Readiness(readiness), status: readiness.database ? .ok : .serviceUnavailable)
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
