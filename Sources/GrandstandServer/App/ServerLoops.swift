internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import Logging
internal import ServiceLifecycle

/// The services of a server other than its listeners, each for the role that needs it.
struct ServerLoops: Sendable {
    /// A service with the role that needs it; `nil`: it always runs.
    struct Member: Sendable {
        let role: Configuration.Role?
        let service: any Service
        let name: String

        init(_ role: Configuration.Role?, _ service: any Service, _ name: String) {
            self.role = role
            self.service = service
            self.name = name
        }
    }

    /// The services in the order of their start. They stop in reverse order.
    let members: [Member]

    init(_ configuration: Configuration, _ resources: ServerResources, _ parts: ServerParts, logger: Logger) {
        let now = resources.now
        let mayClaim = resources.mayClaim
        let stores = parts.stores
        let apple = parts.apple
        let signals = stores.signals
        let reconciler = Reconciler(
            store: stores.requests.reconciliations, reconciliation: apple.reconciliation, signals: signals,
            settings: .init(
                interval: configuration.reconcileInterval, grace: configuration.reconcileGrace,
                deleteBudget: configuration.reconcileDeleteBudget),
            now: now, mayClaim: mayClaim, logger: logger)
        let provisioner = Provisioner(
            channels: stores.requests.channels, calls: apple.calls, signals: signals,
            settings: .init(tenure: configuration.tenure, lease: apple.channelLease), now: now, mayClaim: mayClaim,
            logger: logger)
        let quotaWatch = QuotaWatch(
            channels: stores.requests.channels, levels: stores.quotaLevels, signals: signals,
            settings: .init(tenure: configuration.tenure), now: now, logger: logger)
        let webhookDispatcher = WebhookDispatcher(
            outbox: stores.webhookOutbox, gateway: resources.webhookClient, signals: signals,
            settings: .init(lease: Self.lease, drain: resources.drain),
            now: now, mayClaim: mayClaim, counting: resources.counting, logger: logger)
        let scheduler = Scheduler(
            outbox: stores.requests.outbox, signals: signals, now: now, logger: logger)
        let rates = Dictionary(
            uniqueKeysWithValues: APNsEnvironment.allCases.map { environment in
                func learned(_ api: AppSendRate.API) -> SendRates {
                    SendRates(environment: environment, api: api, counting: resources.counting, logger: logger)
                }
                return (environment, (broadcasts: learned(.broadcast), devices: learned(.device)))
            })
        let allRates = rates.values.flatMap { [$0.broadcasts, $0.devices] }
        resources.metrics.tell { allRates.flatMap { Gauges.of($0) } }
        // Broadcasts and pushes to devices may fail for different reasons, so each has its own lines in the log.
        func accounts() -> [APNsEnvironment: SendAccounts] {
            Dictionary(uniqueKeysWithValues: APNsEnvironment.allCases.map { ($0, SendAccounts(environment: $0)) })
        }
        let (broadcastAccounts, deviceAccounts) = (accounts(), accounts())
        let keys = KeyWatch(fault: { [ring = resources.keyRing] in ring.fault(of: $0) }, logger: logger)
        let sendReports = SendReports(
            rates: allRates, accounts: [broadcastAccounts, deviceAccounts].flatMap(\.values), keys: keys,
            store: stores.throttles, apps: stores.apps, now: now, logger: logger)
        let dispatchers = rates.map { environment, rates in
            Dispatcher(
                environment: environment, outbox: stores.requests.outbox, gateway: apple.watched,
                rates: rates.broadcasts, accounts: broadcastAccounts[environment], keys: keys, signals: signals,
                settings: .init(
                    concurrency: configuration.broadcastsUnderWay, laneInterval: configuration.laneInterval,
                    lease: Self.lease, drain: resources.drain),
                now: now, mayClaim: mayClaim, counting: resources.counting, logger: logger)
        }
        let retention: [RetentionRule] =
            [.broadcasts, .events, .channels, .lanes, .webhookMessages, .activities].map {
                RetentionRule($0, keep: configuration.history)
            } + [.keys, .auditEntries].map { RetentionRule($0, keep: configuration.audit) } + [
                RetentionRule(.installations, keep: configuration.installations),
                RetentionRule(.answers, keep: IdempotencyStore.lifetime),
                RetentionRule(.deviceHours, keep: 7_200),
            ]
        let janitor = Janitor(
            rules: retention, prune: { try await stores.history.prune($0, before: $1, limit: $2) }, now: now,
            logger: logger)
        members =
            [
                Member(nil, resources.clock, "clock"),
                Member(nil, resources.watch, "database watch"),
                Member(nil, UntilShutdown { await signals.run() }, "signals"),
                Member(.api, UntilShutdown { await stores.keys.run() }, "keys"),
                Member(.api, parts.lookups, "lookups"),
                Member(.reconcile, reconciler, "reconciler"),
                Member(nil, GatewayCare(gateway: apple.gateway, logger: logger), "gateway care"),
                Member(.reconcile, provisioner, "provisioner"),
                Member(.dispatch, janitor, "janitor"),
                Member(
                    .dispatch,
                    AppRemover(now: now, logger: logger) { try await stores.deletedApps.removeDeleted() }, "app remover"
                ),
                Member(.api, parts.keyUses, "key uses"),
                Member(.reconcile, quotaWatch, "quota watch"),
                Member(.reconcile, parts.gauges, "gauges"),
                Member(
                    .reconcile,
                    QuotaSampler(
                        channels: stores.requests.channels, history: stores.requests.quotaHistory,
                        settings: .init(tenure: configuration.tenure), now: now, logger: logger), "quota sampler"),
                Member(.dispatch, webhookDispatcher, "webhook dispatcher"),
                Member(.dispatch, scheduler, "scheduler"),
                Member(.dispatch, sendReports, "send reports"),
            ] + dispatchers.map { Member(.dispatch, $0, "dispatcher") }
            + DeviceLoops(
                configuration, resources, parts, rates: rates.mapValues(\.devices), accounts: deviceAccounts,
                keys: keys,
                logger: logger
            ).members
    }

    /// Seconds until the work of a dead replica is taken over. It is short, because the work has to continue within 10
    /// seconds.
    static let lease: TimeInterval = 6
}

/// Runs `body` until the graceful shutdown, and then cancels it.
private struct UntilShutdown: Service {
    let body: @Sendable () async -> Void

    init(_ body: @escaping @Sendable () async -> Void) { self.body = body }

    func run() async { await cancelWhenGracefulShutdown { [body] in await body() } }
}
