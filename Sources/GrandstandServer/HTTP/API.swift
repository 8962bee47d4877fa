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
    let keys: CachedKeyStore
    let keyUses: KeyUses
    let limits: RateLimits
    let lookups: LookupReplica
    let gateway: any APNsGateway
    let channelOperations: ChannelCalls
    let reconciliation: Reconciliation
    /// Returns why messages to a URL would be refused; `nil`: the messages would be sent. The result depends on the
    /// addresses that the URL's host name has now.
    var webhookRefusal: @Sendable (WebhookURL) async -> String? = { _ in nil }
    /// The readiness at the last check of the database, which is at most a second old while the database answers.
    let readiness: @Sendable () -> Contract.Readiness
    let metrics: ServerMetrics
    /// The memory limit for request bodies.
    let bodies = BodyRoom()
    /// Called with the connection of a request whose key does not ship in client apps.
    var onTrust: @Sendable (any NIOCore.Channel) -> Void = { _ in }
    let now: @Sendable () -> Date
    let logger: Logger
    /// The console's pages, served on the same port; `nil`: none. They are not operations of the contract, and they parse
    /// their requests and answer their errors themselves. They share request IDs, logs, metrics, limits and common
    /// headers with the API.
    var pages: Pages?

    typealias Pages = @Sendable (Request, PageAccess) async throws -> Response

    /// Whether the server itself speaks HTTPS. If so, browsers are told to use only HTTPS (HSTS).
    var isSecure: Bool { configuration.tls != nil }

    /// The responder for all requests of the API port. Probes and metrics may have their own port.
    func responder() -> some HTTPResponder<APIContext> {
        router(configuration.operationsPort == nil ? routes + healthRoutes() : routes).buildResponder()
    }

    /// The responder for probes and metrics on their own port.
    func operationsResponder() -> some HTTPResponder<APIContext> {
        var own = self
        own.pages = nil
        return own.router(healthRoutes(isPrivate: true)).buildResponder()
    }

    /// The responder that answers lookups before routing. A server puts it into each connection's pipeline.
    func lookupResponder() -> LookupResponder {
        LookupResponder(
            replica: lookups, keys: keys, uses: keyUses, metrics: metrics,
            headers: StandingHeaders(isSecure: isSecure), now: now)
    }

    /// What pages may do for one request. They call the operations of these routes.
    func access(to routes: [Route]) -> @Sendable (APIContext) -> PageAccess {
        let (authenticator, idempotency) = (authenticator, idempotency)
        return { PageAccess(routes: routes, authenticator: authenticator, idempotency: idempotency, context: $0) }
    }

    private var authenticator: RequestAuthenticator {
        RequestAuthenticator(keys: keys, uses: keyUses, limits: limits, now: now, onTrust: onTrust)
    }

    private var idempotency: Idempotency { Idempotency(store: stores.idempotency, now: now) }

    /// A router with these routes behind their checks, and with the pages, which do their own checks.
    func router(_ routes: [Route]) -> Router<APIContext> {
        let (authenticator, idempotency) = (authenticator, idempotency)
        let router = Router(context: APIContext.self, options: .autoGenerateHeadEndpoints)
        router.add(
            middleware: ProblemMiddleware(
                routes: routes, headers: StandingHeaders(isSecure: isSecure), bodies: bodies,
                proxies: configuration.trustedProxies, logger: logger, metrics: metrics))
        for route in routes {
            router.on(RouterPath(route.operation.path), method: route.method) { request, context in
                var context = context
                context.key = try await authenticator.admit(request, context, to: route)
                // Probes may send any query; it is ignored.
                if route.scopes != nil, let query = request.uri.query {
                    context.query = try QueryParameters(query, known: route.operation.query)
                }
                return try await idempotency.answer(request, context, route)
            }
        }
        guard let pages else { return router }
        let access = access(to: routes)
        for path in [Console.path, Console.path + "/**"] {
            for method in [HTTPRequest.Method.get, .post] {
                router.on(RouterPath(path), method: method) { try await pages($0, access($1)) }
            }
        }
        return router
    }

    /// All routes but `healthRoutes`. Lookups are first, because the router compares paths in this order and most
    /// requests are lookups.
    var routes: [Route] {
        lookupRoutes + appRoutes + contentRoutes + channelRoutes + reconciliationRoutes + auditRoutes + eventRoutes
            + startRoutes + broadcastRoutes + stateRoutes + quotaRoutes + quotaHistoryRoutes + webhookRoutes
            + installationRoutes + activityRoutes + keyRoutes + contractRoutes
    }
}

/// The operations on each kind of resource.
extension API {
    /// How much a reconciliation that a person runs may delete.
    var reconciliationLimits: ReconciliationOptions {
        ReconciliationOptions(
            apply: false, grace: configuration.reconcileGrace, deleteBudget: configuration.reconcileDeleteBudget)
    }
    var webhooks: WebhookStore {
        WebhookStore(
            database: stores.main, networks: configuration.webhookNetworks, refusal: webhookRefusal, now: now)
    }
}
