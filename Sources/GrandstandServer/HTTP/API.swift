internal import FoundationEssentials
internal import Grandstand
internal import Hummingbird
internal import Logging
internal import NIOCore

/// The HTTP API. It builds its routes from the stores and services in `Dependencies`.
struct API: Sendable {
    /// What the API's routes and the console's pages are built from.
    struct Dependencies: Sendable {
        var stores: Stores
        var lookups: LookupReplica
        var access: Access
        var gateway: any APNsGateway
        var channelOperations: ChannelOperations
        var reconciliation: Reconciliation
        /// Returns why messages to a URL would be refused; `nil`: the messages would be sent. The result depends on the
        /// addresses that the URL's host name has now.
        var webhookRefusal: @Sendable (WebhookURL) async -> String? = { _ in nil }
        var readiness: @Sendable () async -> Readiness
        var settings: Settings
        var now: @Sendable () -> Date
    }

    /// The settings of a server that affect the answers to requests.
    struct Settings: Sendable {
        /// How much a reconciliation that a person runs may delete.
        var reconciliationLimits: ReconciliationLimits
        /// The networks that webhook URLs may point to.
        var webhookNetworks = NetworkGuard()
        /// How long events hold their channels, for the quota's forecast.
        var tenure = ChannelTenure()
    }

    /// What all requests share: authentication, rate limits, idempotent answers and metrics.
    struct Access: Sendable {
        var keys: CachedKeyStore
        var uses: KeyUses
        var idempotency: IdempotencyStore
        var limits: RateLimits
        /// Whether the server itself speaks HTTPS. If so, browsers are told to use only HTTPS (HSTS).
        var isSecure: Bool
        var logger: Logger
        var metrics: ServerMetrics
        /// Whether probes and metrics have their own port, served by `operationsResponder`. If so, they are not part of
        /// the API port.
        var hasOwnOperationsPort: Bool
        /// The proxies whose forwarding headers (`X-Forwarded-For`, `X-Forwarded-Host`) are trusted.
        var proxies = TrustedProxies()
        /// Called with the connection of a request whose key does not ship in client apps.
        var onTrust: @Sendable (any NIOCore.Channel) -> Void = { _ in }
        /// The memory limit for request bodies.
        var bodies = BodyRoom()
    }

    private let dependencies: Dependencies

    private let contents: LookupContents

    private let pages: MountedPages?

    /// - Parameter pages: the console's pages, served on the same port; `nil`: none.
    init(_ dependencies: Dependencies, pages: MountedPages? = nil) {
        self.dependencies = dependencies
        contents = LookupContents { [lookups = dependencies.stores.lookups, now = dependencies.now] names in
            try await lookups.lookups(of: names, now: now()).mapValues { LookupAnswer($0.lookup, $0.wait) }
        }
        self.pages = pages
    }

    /// The responder for all requests of the API port.
    func responder() -> some HTTPResponder<APIContext> {
        let access = dependencies.access
        let all = access.hasOwnOperationsPort ? table : RouteTable(routes: table.routes + health().routes)
        return router(all, pages: pages).buildResponder()
    }

    /// The responder for probes and metrics on their own port.
    func operationsResponder() -> some HTTPResponder<APIContext> {
        router(RouteTable(routes: health(isPrivate: true).routes)).buildResponder()
    }

    /// The responder that answers lookups before routing. A server puts it into each connection's pipeline.
    func lookupResponder() -> LookupResponder {
        let access = dependencies.access
        return LookupResponder(
            replica: dependencies.lookups, keys: access.keys, uses: access.uses, metrics: access.metrics,
            headers: StandingHeaders(isSecure: access.isSecure), now: dependencies.now)
    }

    private func router(_ table: RouteTable, pages: MountedPages? = nil) -> Router<APIContext> {
        let d = dependencies
        let metrics = d.access.metrics
        return table.router(
            authenticator: RequestAuthenticator(
                keys: d.access.keys, uses: d.access.uses, limits: d.access.limits, now: d.now, onTrust: d.access.onTrust
            ),
            idempotency: Idempotency(store: d.access.idempotency, now: d.now),
            middleware: .init(
                headers: StandingHeaders(isSecure: d.access.isSecure), bodies: d.access.bodies,
                proxies: d.access.proxies,
                logger: d.access.logger,
                onAnswer: { metrics.answered(method: $0, path: $1, status: $2, time: $3) }),
            pages: pages)
    }

    func health(isPrivate: Bool = false) -> HealthRoutes {
        HealthRoutes(
            isPrivate: isPrivate, readiness: dependencies.readiness, metrics: dependencies.access.metrics)
    }

    var table: RouteTable {
        let d = dependencies
        let stores = d.stores
        let settings = d.settings
        let groups: [[Route]] = [
            // Lookups are first, because the router compares paths in this order and most requests are lookups.
            LookupRoutes(
                replica: d.lookups, contents: { [contents] in try await contents.answer($0) },
                meter: LookupMeter(d.access.metrics), now: d.now
            ).routes,
            AppRoutes(apps: d.appOperations).routes,
            ContentRoutes(contents: d.contentOperations).routes,
            ChannelRoutes(apps: stores.apps, channels: stores.channels, operations: d.channelOperations).routes,
            ReconciliationRoutes(
                apps: stores.apps, store: stores.reconciliations, operations: d.reconciliationOperations,
                limits: settings.reconciliationLimits
            ).routes,
            AuditRoutes(log: stores.auditLog).routes,
            EventRoutes(events: d.eventOperations, tenure: settings.tenure).routes,
            StartRoutes(apps: stores.apps, starts: stores.starts, now: d.now).routes,
            BroadcastRoutes(apps: stores.apps, channels: stores.channels, broadcasts: d.broadcastOperations).routes,
            StateRoutes(states: d.broadcastOperations).routes,
            QuotaRoutes(channels: stores.channels, tenure: settings.tenure, now: d.now).routes,
            QuotaHistoryRoutes(history: stores.quotaHistory, now: d.now).routes,
            WebhookRoutes(webhooks: d.webhooks).routes,
            InstallationRoutes(installations: stores.installations, limits: d.access.limits, now: d.now).routes,
            ActivityRoutes(installations: stores.installations, limits: d.access.limits, now: d.now).routes,
            KeyRoutes(keys: d.keyOperations).routes,
            ContractRoutes().routes,
        ]
        return RouteTable(routes: groups.flatMap(\.self))
    }
}

/// The operations on each kind of resource. The API's routes and the console's pages both use them.
extension API.Dependencies {
    var appOperations: AppOperations {
        AppOperations(apps: stores.apps, gateway: gateway, now: now)
    }
    var contentOperations: ContentOperations {
        ContentOperations(apps: stores.apps, contents: stores.contentTypes, now: now)
    }
    var eventOperations: EventOperations { EventOperations(apps: stores.apps, events: stores.events, now: now) }
    var broadcastOperations: BroadcastOperations {
        BroadcastOperations(apps: stores.apps, events: stores.events, outbox: stores.outbox, now: now)
    }
    var reconciliationOperations: ReconciliationOperations {
        ReconciliationOperations(
            store: stores.reconciliations, reconciliation: reconciliation, operations: channelOperations, now: now)
    }
    var keyOperations: KeyOperations { KeyOperations(keys: access.keys, now: now) }
    var webhooks: WebhookStore {
        WebhookStore(database: stores.main, networks: settings.webhookNetworks, refusal: webhookRefusal, now: now)
    }
}
