internal import APNsClient
internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandService
internal import GrandstandStore
internal import Logging
internal import ServiceLifecycle

/// The loops beside the listeners, each for the role that needs it.
struct ServerLoops: Sendable {
    /// A service, and the roles for one of which it runs; `nil`: it always runs.
    struct Member: Sendable {
        let roles: Set<Configuration.Role>?
        let service: any Service
        let name: String

        init(_ role: Configuration.Role?, _ service: any Service, _ name: String) {
            self.init(anyOf: role.map { [$0] }, service, name)
        }

        init(anyOf roles: Set<Configuration.Role>?, _ service: any Service, _ name: String) {
            self.roles = roles
            self.service = service
            self.name = name
        }
    }

    /// In the order in which they start; they are stopped in the opposite order.
    let members: [Member]

    init(_ configuration: Configuration, _ resources: ServerResources, _ parts: ServerParts, logger: Logger) {
        let now = resources.now
        let mayClaim = resources.mayClaim
        let stores = parts.stores
        let apple = parts.apple
        let signals = stores.signals
        let reconciler = Reconciler(
            store: stores.reconciliations, reconciliation: apple.reconciliation, signals: signals,
            settings: .init(
                interval: configuration.reconcileInterval, grace: configuration.reconcileGrace,
                deleteBudget: configuration.reconcileDeleteBudget),
            now: now, mayClaim: mayClaim, logger: logger)
        let provisioner = Provisioner(
            channels: stores.channels, calls: apple.calls, signals: signals,
            settings: .init(tenure: configuration.tenure, lease: apple.channelLease), now: now, mayClaim: mayClaim,
            logger: logger)
        let quotaWatch = QuotaWatch(
            channels: stores.channels, levels: stores.quotaLevels, signals: signals,
            settings: .init(tenure: configuration.tenure), now: now, logger: logger)
        let webhookDispatcher = WebhookDispatcher(
            outbox: stores.webhookOutbox, gateway: resources.webhookClient, signals: signals,
            // Longer than a post can take.
            settings: .init(lease: configuration.webhookTimeout.seconds + 5, drain: resources.drain),
            now: now, mayClaim: mayClaim, counting: resources.counting, logger: logger)
        let scheduler = Scheduler(outbox: stores.outbox, plan: parts.plan, signals: signals, now: now, logger: logger)
        let refresher = CalendarRefresher(
            operations: parts.calendars,
            // Longer than a fetch and a sync can take; a calendar that is synced twice changes nothing.
            lease: configuration.webhookTimeout.seconds + 120, drain: resources.drain, now: now, mayClaim: mayClaim,
            logger: logger)
        let dispatchers = APNsEnvironment.allCases.map { environment in
            Dispatcher(
                environment: environment, outbox: stores.outbox, departures: stores.departures,
                sends: Sends(
                    gateway: apple.watched, devices: apple.gateway, examinations: apple.examinations, now: now),
                signals: signals,
                settings: .init(
                    concurrency: configuration.broadcastsUnderWay, laneInterval: configuration.laneInterval,
                    lease: Self.laneLease, drain: resources.drain),
                now: now, mayClaim: mayClaim, counting: resources.counting, logger: logger)
        }
        func janitor(
            _ history: any PrunableStore, keep: TimeInterval, of things: String, step: Int = 500
        ) -> Janitor {
            var settings = Janitor.Settings(keep: keep, of: things)
            settings.step = step
            return Janitor(history: history, settings: settings, now: now, logger: logger)
        }
        members =
            [
                Member(nil, resources.clock, "clock"),
                Member(anyOf: Configuration.Role.all, UntilShutdown { await signals.run() }, "signals"),
                Member(anyOf: [.api, .lookup], UntilShutdown { await stores.keys.run() }, "keys"),
                Member(anyOf: [.api, .lookup], parts.lookups, "lookups"),
                Member(.reconcile, reconciler, "reconciler"),
                Member(
                    anyOf: Configuration.Role.all, GatewayCare(gateway: apple.gateway, logger: logger), "gateway care"),
                Member(.reconcile, provisioner, "provisioner"),
                Member(.dispatch, janitor(stores.history, keep: configuration.history, of: "broadcasts"), "janitor"),
                // An event has a score of rows besides its messages.
                Member(
                    .dispatch, janitor(stores.eventHistory, keep: configuration.history, of: "events", step: 50),
                    "janitor of events"),
                Member(
                    .dispatch, janitor(stores.channelHistory, keep: configuration.history, of: "channels", step: 100),
                    "janitor of channels"),
                Member(
                    .dispatch, janitor(stores.laneHistory, keep: configuration.history, of: "lanes"),
                    "janitor of lanes"),
                Member(
                    .dispatch, janitor(stores.keyHistory, keep: configuration.audit, of: "keys"), "janitor of keys"),
                Member(
                    .dispatch,
                    janitor(stores.auditHistory, keep: configuration.audit, of: "audit entries", step: 5_000),
                    "janitor of the audit log"),
                Member(
                    .dispatch,
                    janitor(stores.idempotency, keep: PostgresIdempotencyStore.lifetime, of: "kept answers"),
                    "janitor of answers"),
                Member(.api, parts.keyUses, "key uses"),
                Member(.reconcile, quotaWatch, "quota watch"),
                Member(.reconcile, parts.gauges, "gauges"),
                Member(
                    .reconcile,
                    QuotaSampler(
                        channels: stores.channels, history: stores.quotaHistory,
                        settings: .init(tenure: configuration.tenure), now: now, logger: logger), "quota sampler"),
                Member(
                    .dispatch, janitor(stores.webhookHistory, keep: configuration.history, of: "messages"),
                    "webhook janitor"),
                Member(
                    .dispatch,
                    janitor(stores.installationHistory, keep: configuration.installations, of: "installations"),
                    "janitor of installations"),
                Member(
                    .dispatch, janitor(stores.activityHistory, keep: configuration.history, of: "activities"),
                    "janitor of activities"),
                Member(
                    .dispatch, janitor(stores.receiptHistory, keep: configuration.history, of: "receipts"),
                    "janitor of receipts"),
                Member(
                    .dispatch,
                    janitor(stores.tokenAnswers, keep: TokenAnswers.lifetime, of: "minutes of answers about tokens"),
                    "janitor of token answers"),
                Member(.dispatch, webhookDispatcher, "webhook dispatcher"),
                Member(.dispatch, scheduler, "scheduler"),
                Member(.dispatch, refresher, "calendars"),
            ] + dispatchers.map { Member(.dispatch, $0, "dispatcher") }
            + DeviceLoops(configuration, resources, parts, logger: logger).members
    }

    /// Seconds a dead replica's lanes wait for another one: they are to move within 10.
    private static let laneLease: TimeInterval = 6
}

/// Runs `body` until the graceful shutdown, then cancels it.
private struct UntilShutdown: Service {
    let body: @Sendable () async -> Void

    init(_ body: @escaping @Sendable () async -> Void) { self.body = body }

    func run() async { await cancelWhenGracefulShutdown { [body] in await body() } }
}
