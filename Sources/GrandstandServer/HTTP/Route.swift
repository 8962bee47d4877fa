internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import HTTPTypes
internal import Hummingbird

/// One operation of the contract with its handler.
struct Route: Sendable {
    /// The access that a route requires.
    enum Access: Sendable, Equatable {
        /// No authentication: health checks.
        case open
        /// Every valid key.
        case anyKey
        /// Keys with one of these scopes. If there are several, the handler decides which of them the request needs.
        case anyScope([Contract.Scope])

        /// The access that the contract requires for `operation`.
        init(to operation: Contract.Operation) {
            guard let scopes = operation.scopes else {
                self = .open
                return
            }
            self = scopes.isEmpty ? .anyKey : .anyScope(scopes)
        }
    }

    /// A request that was parsed and checked, and the remaining work, which needs the database.
    struct Prepared: Sendable {
        /// The semaphore at which the request waits before any database access; `nil`: the request does not wait.
        var turn: Semaphore?
        let answer: @Sendable () async throws -> Response
    }

    typealias Handler = @Sendable (Request, APIContext) async throws -> Response
    typealias Preparation = @Sendable (Request, APIContext) async throws -> Prepared
    /// Returns the answer for an earlier request that began to make an object and was never answered. `nil`: the
    /// earlier request had no effect.
    typealias Recovery = @Sendable (UUID, APIContext) async throws -> Response?

    let operation: Contract.Operation
    let method: HTTPRequest.Method
    var access: Access
    /// The maximum size of a body in bytes.
    let bodyLimit: Int
    /// Whether the answer is stored for an `Idempotency-Key`.
    let keepsAnswers: Bool
    /// Finds the answer of an interrupted request. Set for work that calls Apple, because such work cannot be one
    /// transaction.
    let recover: Recovery?
    let prepare: Preparation

    init(
        _ operation: Contract.Operation, bodyLimit: Int = Route.standardBodyLimit, recover: Recovery? = nil,
        _ handler: @escaping Handler
    ) {
        self.init(
            operation, bodyLimit: bodyLimit, recover: recover,
            prepare: { request, context in Prepared { try await handler(request, context) } })
    }

    /// A route whose requests may have to wait at a semaphore. `prepare` parses a request and does not use the
    /// database.
    init(
        _ operation: Contract.Operation, bodyLimit: Int, recover: Recovery? = nil, prepare: @escaping Preparation
    ) {
        self.operation = operation
        // The force-unwrap is safe: the contract's methods are valid HTTP tokens.
        method = HTTPRequest.Method(operation.method)!
        access = Access(to: operation)
        self.bodyLimit = bodyLimit
        keepsAnswers = operation.keepsAnswers
        self.recover = recover
        self.prepare = prepare
    }

    /// Prepares a request and then answers it. If the prepared request has a semaphore, it waits for a permit before it
    /// is answered.
    func answer(_ request: Request, _ context: APIContext) async throws -> Response {
        let prepared = try await prepare(request, context)
        return try await Self.inTurn(prepared.turn) { try await prepared.answer() }
    }

    /// Runs `body` when the semaphore `turn` gives a permit, or at once if `turn` is `nil`.
    static func inTurn<Value: Sendable>(
        _ turn: Semaphore?, _ body: () async throws -> Value
    ) async throws -> Value {
        guard let turn else { return try await body() }
        return try await turn.withPermit { try await body() }
    }

    static let standardBodyLimit = 64 * 1024
}

/// All routes. The router, the checks of keys and the answer to a wrong method use this one list.
struct RouteTable: Sendable {
    let routes: [Route]

    /// The allowed methods of a path; `nil`: no route has this path.
    func methods(at path: String) -> [HTTPRequest.Method]? {
        let methods = routes(at: path).map(\.method)
        return methods.isEmpty ? nil : methods + (methods.contains(.get) ? [.head] : [])
    }

    /// The routes that match the path, like in the router: a literal segment has precedence over a parameter.
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

    /// A router with all routes behind their checks, and with `pages`, which do their own checks.
    func router(
        authenticator: RequestAuthenticator, idempotency: Idempotency, middleware: ProblemMiddleware.Settings,
        pages: MountedPages? = nil
    ) -> Router<APIContext> {
        let router = Router(context: APIContext.self, options: .autoGenerateHeadEndpoints)
        router.add(middleware: ProblemMiddleware(table: self, settings: middleware))
        for route in routes {
            router.on(RouterPath(route.operation.path), method: route.method) { request, context in
                var context = context
                context.key = try await authenticator.admit(request, context, to: route)
                // Probes may send any query; it is ignored.
                if route.access != .open, let query = request.uri.query {
                    context.query = try QueryParameters(query, known: route.operation.query)
                }
                return try await idempotency.answer(request, context, route)
            }
        }
        pages?.mount(on: router, authenticator: authenticator, idempotency: idempotency)
        return router
    }
}
