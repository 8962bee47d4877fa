internal import Grandstand
internal import Logging

/// The parts that are built from the opened resources: the stores, the access to Apple, the API and the console.
struct ServerParts: Sendable {
    let stores: ServerStores
    let apple: AppleAccess
    let lookups: LookupReplica
    let keyUses: KeyUses
    /// Reads the metrics of the whole database.
    let gauges: GaugeWatch
    /// Chooses the connections to close when there are too many.
    let shares: ConnectionShares
    let api: API

    init(_ configuration: Configuration, _ resources: ServerResources, logger: Logger) {
        let now = resources.now
        let stores = ServerStores(configuration, resources, logger: logger)
        let apple = AppleAccess(configuration, resources, stores, logger: logger)
        let lookups = LookupReplica(
            store: stores.lookups, keys: stores.keys, settings: .init(staleLimit: configuration.lookupStaleness),
            now: now, logger: logger)
        resources.database.changes.follow { lookups.changed($0) }
        keyUses = KeyUses(logger: logger) { [keys = stores.keys.store] in try await keys.used($0) }
        shares = ConnectionShares(maximum: configuration.maximumConnections)
        gauges = GaugeWatch(
            channels: stores.requests.channels, store: stores.gauges, tenure: configuration.tenure, now: now,
            logger: logger)
        resources.metrics.tell { [gauges] in Gauges.ofDatabase(gauges) }
        resources.metrics.tell { [database = resources.database] in Gauges.of(database) }
        resources.metrics.tell { [watch = resources.watch, clock = resources.clock] in
            watch.gauges(isClockWrong: clock.standing == .unusable)
        }
        let readiness = Self.isReady(resources, apple)
        resources.metrics.tell { [GaugeSample("grandstand_ready", readiness().database ? 1 : 0)] }
        resources.metrics.tell { [lookups] in Gauges.of(lookups) }
        self.stores = stores
        self.apple = apple
        self.lookups = lookups
        let dependencies = API.Dependencies(
            stores: stores.requests, lookups: lookups,
            access: .of(configuration, resources, stores, keyUses: keyUses, shares: shares, logger: logger),
            gateway: apple.gateway, channelOperations: apple.operations, reconciliation: apple.reconciliation,
            webhookRefusal: { [client = resources.webhookClient] in await client.refusal(of: $0) },
            readiness: Self.readiness(resources, apple),
            settings: .of(configuration), now: now)
        let console = Console(dependencies, Self.pageSources(stores, apple), templates: resources.templates)
        api = API(dependencies, pages: .console(console))
    }

    /// Returns the readiness within a fifth of a second. It is at most a second old.
    private static func readiness(
        _ resources: ServerResources, _ apple: AppleAccess
    ) -> @Sendable () async -> Readiness {
        { [isReady = isReady(resources, apple)] in
            await resources.watch.refresh()
            return isReady()
        }
    }

    /// The readiness from what is already known.
    private static func isReady(_ resources: ServerResources, _ apple: AppleAccess) -> @Sendable () -> Readiness {
        { Readiness(resources.watch.standing, resources.clock, apple.gateway) }
    }

    private static func pageSources(_ stores: ServerStores, _ apple: AppleAccess) -> Console.Sources {
        Console.Sources(
            sessions: stores.consoleSessions,
            throttles: { [throttles = stores.throttles] in try await throttles.throttles(now: $0) },
            activity: { try await ConsoleActivity(stores.overview, apple.gateway, within: $0, now: $1) })
    }
}

extension API.Settings {
    fileprivate static func of(_ configuration: Configuration) -> API.Settings {
        var settings = API.Settings(
            reconciliationLimits: ReconciliationLimits(
                grace: configuration.reconcileGrace, deleteBudget: configuration.reconcileDeleteBudget))
        settings.webhookNetworks = configuration.webhookNetworks
        settings.tenure = configuration.tenure
        return settings
    }
}

extension API.Access {
    /// The settings of keys, rate limits and idempotency. A limit of 0 means no limit.
    fileprivate static func of(
        _ configuration: Configuration, _ resources: ServerResources, _ stores: ServerStores, keyUses: KeyUses,
        shares: ConnectionShares, logger: Logger
    ) -> API.Access {
        API.Access(
            keys: stores.keys, uses: keyUses, idempotency: stores.idempotency,
            limits: RateLimits(
                .init(
                    requests: configuration.rateLimit > 0 ? configuration.rateLimit : nil,
                    failures: configuration.failureLimit > 0 ? configuration.failureLimit : nil,
                    installations: configuration.installationLimit > 0 ? configuration.installationLimit : nil)),
            isSecure: configuration.tls != nil, logger: logger, metrics: resources.metrics,
            hasOwnOperationsPort: configuration.operationsPort != nil, proxies: configuration.trustedProxies,
            onTrust: { shares.know($0) })
    }
}
