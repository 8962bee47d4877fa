package import FoundationEssentials
package import Grandstand
package import GrandstandService
package import GrandstandStore
package import Hummingbird
package import Logging
package import NIOCore

/// The HTTP API. It builds its routes from the stores and services in `Dependencies`.
package struct API: Sendable {
    package struct Dependencies: Sendable {
        package var apps: any AppStore
        package var contentTypes: PostgresContentStore
        package var channels: any ChannelStore
        package var events: any EventStore
        package var starts: any StartStore
        package var lookups: LookupReplica
        /// Returns a lookup's answer together with the newest content.
        package var contents: @Sendable (LookupName) async throws -> LookupAnswer?
        package var outbox: any Outbox
        package var keys: any KeyStore
        package var access: Access
        package var quirks: any QuirkStore
        package var auditLog: PostgresAuditLog
        package var reconciliations: any ReconciliationStore
        package var gateway: any APNsGateway
        package var channelOperations: ChannelOperations
        package var reconciliationOperations: ReconciliationOperations
        /// How much a reconciliation that a person runs may delete.
        package var reconciliationLimits: ReconciliationLimits
        package var intake: Intake
        package var quotaHistory: PostgresQuotaHistory
        package var webhooks: any WebhookStore
        /// The networks that webhook URLs may point to.
        package var webhookNetworks: NetworkGuard
        /// Returns why messages to a URL would be refused, judged by the addresses its host name resolves to now;
        /// `nil`: they would be sent.
        package var webhookRefusal: @Sendable (WebhookURL) async -> String?
        package var installations: any InstallationStore
        package var receipts: any ReceiptStore
        /// Selects the installations that are asked for receipts.
        package var receiptSampling: ReceiptSampling
        package var views: LiveViews
        package var streams = StreamSettings()
        package var readiness: @Sendable () async -> Readiness
        /// How long events hold their channels, for the quota's forecast.
        package var tenure: ChannelTenure
        /// `true`: lookups are the only authenticated operations that this process answers.
        package var onlyLookups: Bool
        package var now: @Sendable () -> Date

        package init(
            apps: any AppStore, contentTypes: PostgresContentStore, channels: any ChannelStore, events: any EventStore,
            starts: any StartStore,
            lookups: LookupReplica, contents: @escaping @Sendable (LookupName) async throws -> LookupAnswer?,
            outbox: any Outbox, keys: any KeyStore, access: Access,
            quirks: any QuirkStore,
            auditLog: PostgresAuditLog,
            reconciliations: any ReconciliationStore, gateway: any APNsGateway, channelOperations: ChannelOperations,
            reconciliationOperations: ReconciliationOperations,
            reconciliationLimits: ReconciliationLimits, intake: Intake,
            quotaHistory: PostgresQuotaHistory,
            webhooks: any WebhookStore, webhookNetworks: NetworkGuard,
            webhookRefusal: @escaping @Sendable (WebhookURL) async -> String? = { _ in nil },
            installations: any InstallationStore,
            receipts: any ReceiptStore, receiptSampling: ReceiptSampling, views: LiveViews,
            readiness: @escaping @Sendable () async -> Readiness, tenure: ChannelTenure,
            onlyLookups: Bool = false, now: @escaping @Sendable () -> Date
        ) {
            self.apps = apps
            self.contentTypes = contentTypes
            self.channels = channels
            self.events = events
            self.starts = starts
            self.lookups = lookups
            self.contents = contents
            self.outbox = outbox
            self.keys = keys
            self.access = access
            self.quirks = quirks
            self.auditLog = auditLog
            self.reconciliations = reconciliations
            self.gateway = gateway
            self.channelOperations = channelOperations
            self.reconciliationOperations = reconciliationOperations
            self.reconciliationLimits = reconciliationLimits
            self.intake = intake
            self.quotaHistory = quotaHistory
            self.webhooks = webhooks
            self.webhookNetworks = webhookNetworks
            self.webhookRefusal = webhookRefusal
            self.installations = installations
            self.receipts = receipts
            self.receiptSampling = receiptSampling
            self.views = views
            self.readiness = readiness
            self.tenure = tenure
            self.onlyLookups = onlyLookups
            self.now = now
        }
    }

    /// What all requests share: authentication, rate limits, idempotent answers and metrics.
    package struct Access: Sendable {
        package var ledger: any KeyLedger
        package var memory: any KeyMemory
        package var uses: KeyUses
        package var idempotency: any IdempotencyStore
        package var limits: RateLimits
        /// The proxies whose forwarding headers (`X-Forwarded-For`, `X-Forwarded-Host`) are trusted.
        package var proxies: TrustedProxies
        /// The memory limit for request bodies.
        package var bodies = BodyRoom()
        /// The server itself speaks HTTPS, so browsers are told to use only HTTPS (HSTS).
        package var isSecure: Bool
        package var logger: Logger
        package var metrics: any OperationMetrics
        /// Probes and metrics have their own port, served by `operationsResponder`, and are not part of the API port.
        package var hasOwnOperationsPort: Bool
        /// Called with the connection of a request whose key does not ship in client apps.
        package var onTrust: @Sendable (any NIOCore.Channel) -> Void

        package init(
            ledger: any KeyLedger, memory: any KeyMemory, uses: KeyUses,
            idempotency: any IdempotencyStore, limits: RateLimits, isSecure: Bool, logger: Logger,
            metrics: any OperationMetrics, hasOwnOperationsPort: Bool, proxies: TrustedProxies = TrustedProxies(),
            onTrust: @escaping @Sendable (any NIOCore.Channel) -> Void = { _ in }
        ) {
            self.ledger = ledger
            self.memory = memory
            self.uses = uses
            self.idempotency = idempotency
            self.limits = limits
            self.isSecure = isSecure
            self.logger = logger
            self.metrics = metrics
            self.hasOwnOperationsPort = hasOwnOperationsPort
            self.proxies = proxies
            self.onTrust = onTrust
        }
    }

    private let dependencies: Dependencies

    private let pages: MountedPages?

    /// - Parameter pages: the console's pages, served on the same port; `nil`: none.
    package init(_ dependencies: Dependencies, pages: MountedPages? = nil) {
        self.dependencies = dependencies
        self.pages = pages
    }

    /// The responder for all requests of the API port.
    package func responder() -> some HTTPResponder<APIContext> {
        let access = dependencies.access
        let all = access.hasOwnOperationsPort ? table : RouteTable(routes: table.routes + health().routes)
        return router(all, pages: dependencies.onlyLookups ? nil : pages).buildResponder()
    }

    /// The responder for probes and metrics on their own port.
    package func operationsResponder() -> some HTTPResponder<APIContext> {
        router(RouteTable(routes: health(isPrivate: true).routes)).buildResponder()
    }

    /// The responder that answers lookups before routing. A server puts it into each connection's pipeline.
    package func lookupResponder() -> LookupResponder {
        let access = dependencies.access
        return LookupResponder(
            replica: dependencies.lookups, keys: access.memory, uses: access.uses, limits: access.limits,
            metrics: access.metrics, headers: StandingHeaders(isSecure: access.isSecure), now: dependencies.now)
    }

    private func router(_ table: RouteTable, pages: MountedPages? = nil) -> Router<APIContext> {
        let d = dependencies
        let metrics = d.access.metrics
        return table.router(
            authenticator: RequestAuthenticator(
                keys: d.keys, uses: d.access.uses, limits: d.access.limits, now: d.now, onTrust: d.access.onTrust),
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
        let groups: [[Route]] = [
            // Lookups are first, because the router compares paths in this order and most requests are lookups.
            LookupRoutes(replica: d.lookups, contents: d.contents, meter: LookupMeter(d.access.metrics), now: d.now)
                .routes,
            AppRoutes(apps: d.appOperations).routes,
            ContentRoutes(contents: d.contentOperations).routes,
            ChannelRoutes(apps: d.apps, channels: d.channels, operations: d.channelOperations).routes,
            ReconciliationRoutes(
                apps: d.apps, store: d.reconciliations, operations: d.reconciliationOperations,
                limits: d.reconciliationLimits
            ).routes,
            AuditRoutes(log: d.auditLog).routes,
            EventRoutes(events: d.eventOperations, tenure: d.tenure).routes,
            StartRoutes(apps: d.apps, starts: d.startOperations).routes,
            BroadcastRoutes(
                apps: d.apps, channels: d.channels, broadcasts: d.broadcastOperations, intake: d.intake
            ).routes,
            StateRoutes(states: d.stateOperations).routes,
            PushRoutes(apps: d.apps, outbox: d.outbox, intake: d.intake, now: d.now).routes,
            QuotaRoutes(channels: d.channels, tenure: d.tenure, now: d.now).routes,
            QuotaHistoryRoutes(history: d.quotaHistory, now: d.now).routes,
            WebhookRoutes(webhooks: d.webhookOperations).routes,
            InstallationRoutes(
                installations: d.installations, sampling: d.receiptSampling, limits: d.access.limits, now: d.now
            ).routes,
            ActivityRoutes(
                installations: d.installations, sampling: d.receiptSampling, limits: d.access.limits, now: d.now
            ).routes,
            ReceiptRoutes(
                receipts: d.receipts, sampling: d.receiptSampling, limits: d.access.limits, now: d.now
            ).routes,
            StreamRoutes(events: d.events, views: d.views, keys: d.keys, settings: d.streams, now: d.now).routes,
            KeyRoutes(keys: d.keyOperations).routes,
            ContractRoutes().routes,
        ]
        let routes = groups.flatMap(\.self)
        return RouteTable(routes: d.onlyLookups ? routes.map(\.onlyLookups) : routes)
    }
}

/// The operations of each noun. The API's routes and the console's pages both use them.
extension API.Dependencies {
    var appOperations: AppOperations { AppOperations(apps: apps, quirks: quirks, gateway: gateway, now: now) }
    var contentOperations: ContentOperations { ContentOperations(apps: apps, contents: contentTypes, now: now) }
    var stateOperations: StateOperations { StateOperations(broadcasts: broadcastOperations) }
    var eventOperations: EventOperations { EventOperations(apps: apps, events: events, now: now) }
    var startOperations: StartOperations { StartOperations(events: events, starts: starts, now: now) }
    var broadcastOperations: BroadcastOperations {
        BroadcastOperations(apps: apps, events: events, outbox: outbox, intake: intake, now: now)
    }
    var keyOperations: KeyOperations { KeyOperations(ledger: access.ledger, now: now) }
    var webhookOperations: WebhookOperations {
        WebhookOperations(webhooks: webhooks, networks: webhookNetworks, refusal: webhookRefusal, now: now)
    }
}

extension Route {
    /// The same route in a process that answers lookups only: it refuses every call, and no idempotent answer is
    /// stored.
    fileprivate var onlyLookups: Route {
        guard access != LookupRoutes.access, access != .open else { return self }
        var route = self
        route.keepsAnswers = false
        route.prepare = { _, _ in
            throw Problem(
                .storeUnavailable,
                "This server answers lookups only (GRANDSTAND_ROLES=lookup). Ask one with the role api.")
        }
        return route
    }
}
