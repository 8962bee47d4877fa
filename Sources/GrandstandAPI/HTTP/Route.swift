internal import Grandstand
internal import HTTPTypes
internal import Hummingbird

/// One operation of the API: where it is, who may call it, what it does.
struct Route: Sendable {
    /// Who may call a route.
    enum Access: Sendable, Equatable {
        /// Anybody: health checks.
        case open
        /// Any key that is valid.
        case anyKey
        /// Keys that hold the scope.
        case scope(APIKey.Scope)
    }

    typealias Handler = @Sendable (Request, APIContext) async throws -> Response

    let method: HTTPRequest.Method
    /// Hummingbird's syntax: `/v1/apps/:bundleId`.
    let path: String
    let access: Access
    let handler: Handler

    init(_ method: HTTPRequest.Method, _ path: String, _ access: Access, _ handler: @escaping Handler) {
        self.method = method
        self.path = path
        self.access = access
        self.handler = handler
    }
}

/// Every route there is: the router, the check of scopes, and the answer to a wrong method come from this one list.
struct RouteTable: Sendable {
    let routes: [Route]

    /// The methods a path takes; `nil` for a path that no route has.
    func methods(at path: String) -> [HTTPRequest.Method]? {
        let segments = path.split(separator: "/")
        let methods = routes.filter { route in
            let template = route.path.split(separator: "/")
            return template.count == segments.count
                && zip(template, segments).allSatisfy { $0.hasPrefix(":") || $0 == $1 }
        }.map(\.method)
        return methods.isEmpty ? nil : methods
    }

    /// A router with all routes, each behind its check.
    func router(keys: any KeyStore) -> Router<APIContext> {
        let router = Router(context: APIContext.self)
        router.add(middleware: ProblemMiddleware(table: self))
        let gate = Gate(keys: keys)
        for route in routes {
            router.on(RouterPath(route.path), method: route.method) { request, context in
                var context = context
                context.key = try await gate.admit(request, to: route)
                return try await route.handler(request, context)
            }
        }
        return router
    }
}
