internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import HTTPTypes
internal import Hummingbird
internal import Logging
internal import NIOCore

/// Everything that the API's routes and the console's pages work with. Each noun's folder has its routes, such as
/// `eventRoutes`.
struct API: Sendable {
    let configuration: Configuration
    let stores: Stores
    let keys: KeyStore
    let limits: RateLimits
    let lookups: LookupReplica
    let gateway: any APNsGateway
    let channelOperations: ChannelCalls
    /// The readiness at the last check of the database, which is at most a second old while the database answers.
    let readiness: @Sendable () -> Contract.Readiness
    let metrics: ServerMetrics
    /// The memory limit for request bodies.
    let bodyRoom = BodyRoom()
    /// Called with the connection of a request whose key does not ship in client apps.
    var onTrust: @Sendable (any NIOCore.Channel) -> Void = { _ in }
    let now: @Sendable () -> Date
    let logger: Logger
    /// The console, served on the same port; `nil`: none. Its pages are not operations of the contract, and they parse
    /// their requests and answer their errors themselves. They share request IDs, logs, metrics, limits and common
    /// headers with the API.
    var console: Console?

    /// Whether the server itself speaks HTTPS. If so, browsers are told to use only HTTPS (HSTS).
    var servesTLS: Bool { configuration.tls != nil }

    /// The responder for all requests of the API port. Probes and metrics may have their own port.
    func responder() -> some HTTPResponder<APIContext> {
        router(configuration.operationsPort == nil ? routes + healthRoutes() : routes).buildResponder()
    }

    /// The responder for probes and metrics on their own port.
    func healthResponder() -> some HTTPResponder<APIContext> {
        var own = self
        own.console = nil
        return own.router(healthRoutes(isPrivate: true)).buildResponder()
    }

    /// The responder that answers lookups before routing. A server puts it into each connection's pipeline.
    func lookupResponder() -> LookupResponder {
        LookupResponder(
            replica: lookups, keys: keys, metrics: metrics, headers: CommonHeaders(isSecure: servesTLS), now: now)
    }

    /// A router with these routes behind their checks, and with the pages, which do their own checks.
    func router(_ routes: [Route]) -> Router<APIContext> {
        let router = Router(context: APIContext.self, options: .autoGenerateHeadEndpoints)
        let pages = console.map { PageResponder(console: $0, api: self, apiRoutes: routes) }
        let headers = CommonHeaders(isSecure: servesTLS)
        router.add(middleware: ProblemMiddleware(api: self, routes: routes, headers: headers, pages: pages))
        for route in routes {
            router.on(RouterPath(route.operation.path), method: route.method) { request, context in
                var context = context
                context.key = try await admit(request, context, route)
                // Probes may send any query; it is ignored.
                if route.scopes != nil, let query = request.uri.query {
                    context.query = try QueryParameters(query, known: route.operation.query)
                }
                return try await answer(request, context, route)
            }
        }
        pages?.add(to: router)
        return router
    }

    /// All routes but `healthRoutes`. Lookups are first, because the router compares paths in this order and most
    /// requests are lookups.
    var routes: [Route] {
        lookupRoutes + appRoutes + contentRoutes + channelRoutes + reconciliationRoutes + auditRoutes + eventRoutes
            + startRoutes + broadcastRoutes + stateRoutes + quotaRoutes + webhookRoutes
            + installationRoutes + keyRoutes + contractRoutes
    }

    var webhooks: WebhookStore {
        WebhookStore(database: stores.main, networks: configuration.webhookNetworks, now: now)
    }
}

/// `/healthz`, `/readyz` and `/metrics`, for probes and for a Prometheus.
extension API {
    /// - Parameter isPrivate: `true`: on the private port. No key is needed, and answers may contain host names.
    func healthRoutes(isPrivate: Bool = false) -> [Route] {
        var numbers = Route(.metrics) { _, context in
            // The metrics contain the names of all apps, so the key must have access to all apps. On the private port,
            // no key is needed.
            guard isPrivate || context.reach == .all else { throw context.reach.refusal }
            return .content("text/plain; version=0.0.4; charset=utf-8", ByteBuffer(bytes: metrics.exposition()))
        }
        if isPrivate { numbers.scopes = nil }
        return [
            Route(.health) { _, _ in .json(Contract.Health(status: "ok")) },
            Route(.readiness) { _, _ in
                var readiness = readiness()
                if !isPrivate { (readiness.apns.development.reason, readiness.apns.production.reason) = (nil, nil) }
                return .json(readiness, status: readiness.status == .ready ? .ok : .serviceUnavailable)
            },
            numbers,
        ]
    }

    /// All answers share these bytes, so answers to slow clients need no copy.
    private static let contract = ByteBuffer(string: ContractText.yaml)

    /// `/openapi.yaml`: the contract of this server, without authentication.
    var contractRoutes: [Route] {
        [
            Route(.contract) { _, _ in
                .content("application/yaml", Self.contract, headers: [.cacheControl: "public, max-age=300"])
            }
        ]
    }
}

/// One operation of the contract with its handler.
struct Route: Sendable {
    typealias Handler = @Sendable (Request, APIContext) async throws -> Response
    /// Returns the answer for an earlier request that began to make an object and was never answered. `nil`: the
    /// earlier request had no effect.
    typealias Recall = @Sendable (UUID, APIContext) async throws -> Response?

    let operation: Contract.Operation
    let method: HTTPRequest.Method
    /// The scopes of which the key needs one; empty: every valid key; `nil`: no authentication. If there are several, the
    /// handler decides which of them the request needs.
    var scopes: [Contract.Scope]?
    /// The maximum size of a body in bytes.
    let bodyLimit: Int
    /// Whether the answer is stored for an `Idempotency-Key`.
    var keepsAnswers: Bool
    /// Finds the answer of an interrupted request. Set for work that calls Apple, because such work cannot be one
    /// transaction.
    let recall: Recall?
    /// The semaphore at which a request with a body of so many bytes waits before any database access; `nil`: it does
    /// not wait.
    let semaphore: (@Sendable (_ bytes: Int) -> Semaphore)?
    let handler: Handler

    init(
        _ operation: Contract.Operation, bodyLimit: Int = Route.standardBodyLimit, recall: Recall? = nil,
        semaphore: (@Sendable (_ bytes: Int) -> Semaphore)? = nil, _ handler: @escaping Handler
    ) {
        self.operation = operation
        // The force-unwrap is safe: the contract's methods are valid HTTP tokens.
        method = HTTPRequest.Method(operation.method)!
        scopes = operation.scopes
        self.bodyLimit = bodyLimit
        keepsAnswers = operation.keepsAnswers
        (self.recall, self.semaphore, self.handler) = (recall, semaphore, handler)
    }

    static let standardBodyLimit = 64 * 1024
}
