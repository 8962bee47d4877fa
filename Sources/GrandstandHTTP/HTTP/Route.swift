internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import GrandstandService
internal import HTTPTypes
internal import Hummingbird

/// One operation of the contract with its handler.
struct Route: Sendable {
    /// The access that a route needs.
    enum Access: Sendable, Equatable {
        /// Anybody: health checks.
        case open
        /// Any key that is valid.
        case anyKey
        /// Keys that hold one of the scopes; with several, the route itself looks closer.
        case anyScope([APIKey.Scope])

        /// What the contract says of `operation`.
        init(to operation: Contract.Operation) {
            guard let scopes = operation.scopes else {
                self = .open
                return
            }
            self =
                scopes.isEmpty
                ? .anyKey
                : .anyScope(
                    scopes.map { word in
                        guard let scope = APIKey.Scope(rawValue: word.rawValue) else {
                            preconditionFailure("openapi.yaml has a scope that keys do not have: \(word)")
                        }
                        return scope
                    })
        }
    }

    /// A request that was read, and what is left to do: that needs the database.
    struct Prepared: Sendable {
        /// Where it waits for its turn, before anything is asked of the database; `nil`: nowhere.
        var turn: Semaphore?
        let answer: @Sendable () async throws -> Response
    }

    typealias Handler = @Sendable (Request, APIContext) async throws -> Response
    typealias Preparation = @Sendable (Request, APIContext) async throws -> Prepared
    /// The answer for a thing that an earlier request began and did not answer for; `nil`: it came to nothing.
    typealias Recovery = @Sendable (UUID, APIContext) async throws -> Response?

    let operation: Contract.Operation
    let method: HTTPRequest.Method
    var access: Access
    /// Bytes a body may have.
    let bodyLimit: Int
    /// Whether the answer is kept for an `Idempotency-Key`.
    var keepsAnswers: Bool
    /// For work that calls Apple and so cannot be one transaction.
    let recover: Recovery?
    var prepare: Preparation

    init(
        _ operation: Contract.Operation, bodyLimit: Int = Route.standardBodyLimit, recover: Recovery? = nil,
        _ handler: @escaping Handler
    ) {
        self.init(
            operation, bodyLimit: bodyLimit, recover: recover,
            prepare: { request, context in Prepared { try await handler(request, context) } })
    }

    /// A route whose requests may have to wait for their turn: `prepare` reads one and asks nothing of the database.
    init(
        _ operation: Contract.Operation, bodyLimit: Int, recover: Recovery? = nil, prepare: @escaping Preparation
    ) {
        self.operation = operation
        // A method of the contract is a token, as HTTP wants it.
        method = HTTPRequest.Method(operation.method)!
        access = Access(to: operation)
        self.bodyLimit = bodyLimit
        keepsAnswers = operation.keepsAnswers
        self.recover = recover
        self.prepare = prepare
    }

    /// Carries a request out, in its turn.
    func answer(_ request: Request, _ context: APIContext) async throws -> Response {
        let prepared = try await prepare(request, context)
        return try await Self.inTurn(prepared.turn) { try await prepared.answer() }
    }

    /// Runs `body` when it is its turn, or at once where there are no turns.
    static func inTurn<Value: Sendable>(
        _ turn: Semaphore?, _ body: () async throws -> Value
    ) async throws -> Value {
        guard let turn else { return try await body() }
        return try await turn.withPermit { try await body() }
    }

    static let standardBodyLimit = 64 * 1024
}

/// Every route there is: the router, the checks of keys, and the answer to a wrong method come from this one list.
struct RouteTable: Sendable {
    let routes: [Route]

    /// The methods a path takes; `nil` for a path that no route has.
    func methods(at path: String) -> [HTTPRequest.Method]? {
        let methods = routes(at: path).map(\.method)
        return methods.isEmpty ? nil : methods + (methods.contains(.get) ? [.head] : [])
    }

    /// Those the router would choose from: where a path's words are a route's own, they are no parameter of another.
    private func routes(at path: String) -> [Route] {
        let segments = path.split(separator: "/")
        let matching: [(route: Route, words: Int)] = routes.compactMap { route in
            let template = route.operation.path.split(separator: "/")
            guard template.count == segments.count,
                zip(template, segments).allSatisfy({ $0.hasPrefix("{") || $0 == $1 })
            else { return nil }
            return (route, template.count { !$0.hasPrefix("{") })
        }
        let most = matching.map(\.words).max()
        return matching.filter { $0.words == most }.map(\.route)
    }

    /// A router with all routes, each behind its checks, and with `pages`, which answer for themselves.
    func router(
        gate: Gate, idempotency: Idempotency, middleware: ProblemMiddleware.Settings, pages: MountedPages? = nil
    ) -> Router<APIContext> {
        let router = Router(context: APIContext.self, options: .autoGenerateHeadEndpoints)
        router.add(middleware: ProblemMiddleware(table: self, settings: middleware))
        for route in routes {
            router.on(RouterPath(route.operation.path), method: route.method) { request, context in
                var context = context
                context.key = try await gate.admit(request, context, to: route)
                // The query of a probe is ignored.
                if route.access != .open, let query = request.uri.query {
                    context.query = try QueryParameters(query, known: route.operation.query)
                }
                return try await idempotency.answer(request, context, route)
            }
        }
        pages?.mount(on: router, gate: gate, idempotency: idempotency)
        return router
    }
}
