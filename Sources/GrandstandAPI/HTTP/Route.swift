internal import FoundationEssentials
package import Grandstand
internal import GrandstandService
internal import HTTPTypes
internal import Hummingbird

/// One operation of the API: its path, the access it needs, its handler.
struct Route: Sendable {
    /// The access that a route needs.
    enum Access: Sendable, Equatable {
        /// Anybody: health checks.
        case open
        /// Any key that is valid.
        case anyKey
        /// Keys that hold the scope.
        case scope(APIKey.Scope)
        /// Keys that hold one of the scopes; the route itself looks closer.
        case anyScope(Set<APIKey.Scope>)
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

    let method: HTTPRequest.Method
    /// Hummingbird's syntax: `/v1/apps/:bundleId`.
    let path: String
    let access: Access
    /// Names its query may have.
    let query: [String]
    /// Bytes a body may have.
    let bodyLimit: Int
    /// Whether `Idempotency-Key` means something here; for a POST that only reads it does not.
    let keepsAnswers: Bool
    /// For work that calls Apple and so cannot be one transaction.
    let recover: Recovery?
    let prepare: Preparation

    init(
        _ method: HTTPRequest.Method, _ path: String, _ access: Access, query: [String] = [],
        bodyLimit: Int = Route.standardBodyLimit, keepsAnswers: Bool = true, recover: Recovery? = nil,
        _ handler: @escaping Handler
    ) {
        self.method = method
        self.path = path
        self.access = access
        self.query = query
        self.bodyLimit = bodyLimit
        self.keepsAnswers = keepsAnswers
        self.recover = recover
        prepare = { request, context in Prepared { try await handler(request, context) } }
    }

    /// A route whose requests may have to wait for their turn: `prepare` reads one and asks nothing of the database.
    init(
        _ method: HTTPRequest.Method, _ path: String, _ access: Access, query: [String] = [], bodyLimit: Int,
        keepsAnswers: Bool = true, prepare: @escaping Preparation
    ) {
        self.method = method
        self.path = path
        self.access = access
        self.query = query
        self.bodyLimit = bodyLimit
        self.keepsAnswers = keepsAnswers
        recover = nil
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
            let template = route.path.split(separator: "/")
            guard template.count == segments.count,
                zip(template, segments).allSatisfy({ $0.hasPrefix(":") || $0 == $1 })
            else { return nil }
            return (route, template.count { !$0.hasPrefix(":") })
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
            router.on(RouterPath(route.path), method: route.method) { request, context in
                var context = context
                context.key = try await gate.admit(request, context, to: route)
                // The query of a probe is ignored.
                if route.access != .open {
                    context.query = try QueryParameters(request.uri.query ?? "", known: route.query)
                }
                return try await idempotency.answer(request, context, route)
            }
        }
        // Pages call what is beside them, never themselves.
        if let pages {
            pages.mount(
                on: router, gate: gate, idempotency: idempotency,
                calls: self.router(gate: gate, idempotency: idempotency, middleware: middleware).buildResponder())
        }
        return router
    }
}

/// An operation as the outside sees it, for comparing with openapi.yaml.
package struct APIOperation: Sendable, Hashable {
    package var method: String
    /// OpenAPI's syntax: `/v1/apps/{bundleId}`.
    package var path: String
    /// One of them is enough; empty: no key or any key will do.
    package var scopes: Set<APIKey.Scope>
    package var needsKey: Bool
    /// Names its query may have.
    package var query: Set<String>

    init(_ route: Route) {
        method = route.method.rawValue
        path = route.path.split(separator: "/", omittingEmptySubsequences: false)
            .map { $0.hasPrefix(":") ? "{\($0.dropFirst())}" : String($0) }.joined(separator: "/")
        needsKey = route.access != .open
        query = Set(route.query)
        scopes =
            switch route.access {
            case .open, .anyKey: []
            case .scope(let scope): [scope]
            case .anyScope(let scopes): scopes
            }
    }
}
