internal import APNsWire
internal import Grandstand
internal import Logging
internal import ServiceLifecycle

extension Server {
    /// A service with the role that needs it; `nil`: it always runs.
    struct Member: Sendable {
        let role: Configuration.Role?
        let name: String
        let service: any Service

        init(_ role: Configuration.Role?, _ name: String, _ service: any Service) {
            self.role = role
            self.name = name
            self.service = service
        }
    }

    /// The services other than the listeners, in the order of their start. They stop in reverse order. Called once.
    func loops() -> [Member] {
        let (stores, now) = (api.stores, api.now)
        // Work may not be claimed if this machine's clock is so wrong that Apple would refuse provider tokens.
        let mayClaim: @Sendable () -> Bool = { [clock] in clock.mayClaim }
        let history = PostgresHistory(databases.main)
        let apps = AppStore(databases.main)
        let sending = APNsEnvironment.allCases.map { Sending($0, counting, logger) }
        api.metrics.tell { sending.flatMap(\.rates).flatMap { Gauges.of($0) } }
        let keys = KeyWatch(fault: { [keyRing] in keyRing.fault(of: $0) }, logger: logger)
        let members = [
            Member(nil, "clock", clock),
            Member(nil, "database watch", watch),
            Member(nil, "signals", UntilShutdown { [signals] in await signals.run() }),
            Member(.api, "keys", UntilShutdown { [api] in await api.keys.run() }),
            Member(.api, "lookups", api.lookups),
            Member(
                .reconcile, "reconciler",
                Reconciler(
                    reconciliation: api.reconciliation, interval: configuration.reconcileInterval,
                    options: ReconciliationOptions(
                        apply: true, grace: configuration.reconcileGrace,
                        deleteBudget: configuration.reconcileDeleteBudget),
                    signals: signals, mayClaim: mayClaim)),
            Member(nil, "gateway care", GatewayCare(gateway: gateway, logger: logger)),
            Member(
                .reconcile, "provisioner",
                Provisioner(
                    calls: channelCalls, tenure: configuration.tenure, signals: signals, mayClaim: mayClaim)),
            Member(
                .dispatch, "janitor",
                Janitor(
                    rules: history.rules(
                        history: configuration.history, audit: configuration.audit,
                        installations: configuration.installations),
                    now: now, logger: logger)),
            Member(
                .dispatch, "app remover",
                AppRemover(now: now, logger: logger) { try await stores.apps.removeDeleted() }),
            Member(.api, "key uses", api.keyUses),
            Member(
                .reconcile, "quota watch",
                QuotaWatch(
                    channels: stores.channels, levels: QuotaLevels(database: databases.main), signals: signals,
                    settings: .init(tenure: configuration.tenure), now: now, logger: logger)),
            Member(.reconcile, "gauges", gauges),
            Member(
                .reconcile, "quota sampler",
                QuotaSampler(
                    channels: stores.channels, history: stores.quotaHistory,
                    settings: .init(tenure: configuration.tenure), now: now, logger: logger)),
            Member(
                .dispatch, "webhook dispatcher",
                WebhookDispatcher(
                    outbox: WebhookOutbox(database: databases.main), gateway: webhookClient, signals: signals,
                    settings: .init(lease: Self.lease, drain: drain), now: now, mayClaim: mayClaim,
                    counting: counting, logger: logger)),
            Member(
                .dispatch, "scheduler", Scheduler(outbox: stores.outbox, signals: signals, now: now, logger: logger)),
            Member(
                .dispatch, "send reports",
                SendReports(
                    rates: sending.flatMap(\.rates), accounts: sending.flatMap(\.accounts), keys: keys,
                    store: PostgresThrottles(databases.main), apps: apps, now: now, logger: logger)),
        ]
        let broadcasts = sending.map { sending in
            Member(
                .dispatch, "dispatcher",
                Dispatcher(
                    environment: sending.environment, outbox: stores.outbox, gateway: watched,
                    rates: sending.broadcasts.rates, accounts: sending.broadcasts.accounts, keys: keys,
                    signals: signals,
                    settings: .init(
                        concurrency: configuration.broadcastsUnderWay, laneInterval: configuration.laneInterval,
                        lease: Self.lease, drain: drain),
                    now: now, mayClaim: mayClaim, counting: counting, logger: logger))
        }
        return members + broadcasts + sending.flatMap { devices($0, keys, mayClaim) }
    }

    /// The loops that push to devices: one for starts of events, and one for updates to activities by token. They are
    /// separate, so that an update about a goal does not wait until a million starts are sent. Both loops of an
    /// environment share its limit of simultaneous pushes.
    private func devices(
        _ sending: Sending, _ keys: KeyWatch, _ mayClaim: @escaping @Sendable () -> Bool
    ) -> [Member] {
        let pushes = DevicePushes(
            gateway: gateway, concurrency: configuration.devicePushesUnderWay, rates: sending.devices.rates,
            accounts: sending.devices.accounts, keys: keys, now: api.now)
        var settings = ShardSettings(lease: Self.lease, drain: drain)
        settings.places = Self.shards
        let crowds = CrowdStore(
            database: databases[.dispatch],
            intervals: .init(lane: configuration.laneInterval, rest: configuration.infrequentInterval))
        let starts = ShardDispatcher(
            environment: sending.environment, store: api.stores.starts, pushes: pushes, signals: signals,
            wakenBy: .starts, settings: settings, now: api.now, mayClaim: mayClaim,
            onSettled: { [counting] verdicts in
                for verdict in verdicts {
                    if let state = StartState(verdict) { counting(.started(state, reason: verdict.reason)) }
                }
            }, logger: logger)
        let updates = ShardDispatcher(
            environment: sending.environment, store: crowds, pushes: pushes, signals: signals,
            wakenBy: .crowds(sending.environment), settings: settings, now: api.now, mayClaim: mayClaim,
            logger: logger)
        return [Member(.dispatch, "starts", starts), Member(.dispatch, "crowds", updates)]
    }

    /// The most shards that one loop has in progress at a time. Each run of an event's starts in one app and
    /// environment has at most one shard in progress. Each lane of an audience whose activities have tokens also has at
    /// most one. The shards of a loop therefore come from different runs or lanes.
    private static let shards = 4

    /// What this process learns of APNs in one environment. Broadcasts and pushes to devices may fail for different
    /// reasons, so each has its own rates and its own lines in the log.
    private struct Sending {
        let environment: APNsEnvironment
        let broadcasts: (rates: SendRates, accounts: SendAccounts)
        let devices: (rates: SendRates, accounts: SendAccounts)

        init(_ environment: APNsEnvironment, _ counting: @escaping Counting, _ logger: Logger) {
            func learned(_ api: AppSendRate.API) -> (SendRates, SendAccounts) {
                (
                    SendRates(environment: environment, api: api, counting: counting, logger: logger),
                    SendAccounts(environment: environment)
                )
            }
            self.environment = environment
            (broadcasts, devices) = (learned(.broadcast), learned(.device))
        }

        var rates: [SendRates] { [broadcasts.rates, devices.rates] }
        var accounts: [SendAccounts] { [broadcasts.accounts, devices.accounts] }
    }
}

/// Runs `body` until the graceful shutdown, and then cancels it.
private struct UntilShutdown: Service {
    let body: @Sendable () async -> Void

    func run() async { await cancelWhenGracefulShutdown { [body] in await body() } }
}
