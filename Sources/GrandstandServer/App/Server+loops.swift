internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import Logging
internal import Postgres
internal import ServiceLifecycle
internal import UnixSignals

extension Server {
    /// A part of the running server, with the role that needs it; `nil`: it always runs.
    struct Member: Service {
        let role: Configuration.Role?
        let name: String
        private let body: @Sendable () async throws -> Void

        /// - Parameter body: ends by itself at the graceful shutdown.
        init(_ role: Configuration.Role?, _ name: String, _ body: @escaping @Sendable () async throws -> Void) {
            self.role = role
            self.name = name
            self.body = body
        }

        func run() async throws { try await body() }
    }

    /// The services other than the listeners, in the order of their start. They stop in reverse order. Called once.
    func loops() -> [Member] {
        let (stores, now, tenure) = (api.stores, api.now, configuration.tenure)
        let rings = signals
        // Work may not be claimed if this machine's clock is so wrong that Apple would refuse provider tokens.
        let mayClaim: @Sendable () -> Bool = { [clock] in clock.mayClaim }
        let history = PostgresHistory(databases.main)
        let apps = AppStore(databases.main)
        let janitor = Janitor(
            rules: history.rules(
                history: configuration.history, audit: configuration.audit, installations: configuration.installations),
            now: now, logger: logger)
        let levels = QuotaLevels(database: databases.main)
        let throttles = PostgresThrottles(databases.main)
        let sending = APNsEnvironment.allCases.map { Sending($0, counting, logger) }
        let (rates, accounts) = (sending.flatMap(\.rates), sending.flatMap(\.accounts))
        api.metrics.tell { rates.flatMap { Gauges.of($0) } }
        let keys = KeyWatch(fault: { [keyRing] in keyRing.fault(of: $0) }, logger: logger)
        let runs = api.reconciliation.loop(
            every: configuration.reconcileInterval,
            ReconciliationOptions(
                apply: true, grace: configuration.reconcileGrace, deleteBudget: configuration.reconcileDeleteBudget),
            mayClaim: mayClaim)
        let calling = channelCalls.calling(mayClaim: mayClaim)
        let aligning = channelCalls.aligning(tenure, waking: calling)
        let uses = looking(.api, "key uses", every: 5, "the last uses of keys could not be written") { [api] in
            try await api.keyUses.write()
            return nil
        }
        let members = [
            looking(nil, "clock", every: 2, "the database's clock could not be read") { [clock] in
                try await clock.measure()
                return nil
            },
            // `/readyz` answers with a check that is at most a second old.
            looking(nil, "database watch", every: 0.9, "the database could not be checked") { [watch, database] in
                await watch.look(with: DatabaseProbe(database[.probe]))
                return nil
            },
            Member(nil, "signals") { [signals] in await cancelWhenGracefulShutdown { await signals.run() } },
            looking(.api, "keys", every: 1, "the API keys could not be read", wakenBy: api.keys.changes) { [api] in
                // A reading takes no longer than one of a request, because requests may wait for it.
                try await PostgresTimeLimit.$current.withValue(.request()) { try await api.keys.reload() }
                return nil
            },
            Member(.api, "lookups", api.lookups.run),
            Member(.reconcile, "reconciler") { await runs.run(wakenBy: rings.wakes(.channels)) },
            Member(nil, "key files") { [keyRing, logger] in
                await cancelWhenGracefulShutdown {
                    for await _ in await UnixSignalsSequence(trapping: .sighup) {
                        keyRing.forget()
                        logger.notice("key files will be read again")
                    }
                }
            },
            looking(nil, "gateway gauges", every: 5, "APNs' connections could not be counted") { [gateway] in
                gateway.recordGauges()
                return nil
            },
            Member(.reconcile, "channel calls") { await calling.run() },
            Member(.reconcile, "provisioner") { await aligning.run(wakenBy: rings.wakes(.channels)) },
            looking(.dispatch, "janitor", every: 600, "history could not be deleted") {
                await janitor.round() ? nil : now() + 5
            },
            // After each step it rests for as long as the step took, so that other work can use the database.
            looking(
                .dispatch, "app remover", .init(restPerRound: 1, pollInterval: .seconds(5), retry: .seconds(5)),
                "the remaining rows of deleted apps could not be removed"
            ) { try await apps.removeDeleted() ? now() : nil },
            Member(.api, "key uses") { [api] in
                try await uses.run()
                // The last write runs in a separate task, because the present task may be cancelled.
                await Task { try? await api.keyUses.write() }.value
            },
            // Each check counts all channels, so checks are at least a second apart.
            looking(
                .reconcile, "quota watch", .init(rest: .seconds(1), pollInterval: .seconds(30), retry: .seconds(5)),
                "quota levels could not be checked", wakenBy: signals.wakes(.channels, .webhooks)
            ) {
                if try await levels.areWatched() {
                    try await levels.note(try await stores.channels.quotas(now: now(), tenure: tenure), now: now())
                }
                return nil
            },
            looking(
                .reconcile, "gauges", every: 5, "the values for the database's metrics could not be read"
            ) { [gauges] in
                try await gauges.look()
                return nil
            },
            looking(.reconcile, "quota sampler", every: 60, "quotas could not be sampled") {
                try await stores.quotaHistory.sample(stores.channels, tenure: tenure, now: now())
            },
            Member(
                .dispatch, "webhook dispatcher",
                WebhookPosts(
                    queue: WebhookQueue(database: databases.main), gateway: webhookClient, signals: signals,
                    lease: Self.lease, drain: drain, now: now, mayClaim: mayClaim, counting: counting,
                    logger: logger
                ).run),
            looking(
                .dispatch, "scheduler", every: 1, "scheduled broadcasts could not be sent to their lanes",
                wakenBy: signals.wakes(.schedule)
            ) {
                while try await stores.outbox.promote(now: now(), limit: 100) > 0 {}
                return try await stores.outbox.nextScheduled()
            },
            looking(
                .dispatch, "send reports", every: KeyWatch.interval,
                "what APNs accepts of each app could not be stored"
            ) {
                try await throttles.report(rates.flatMap { $0.throttles(at: now()) }, now: now())
                let lacking = keys.look(try await apps.signers(), at: now())
                try await apps.note(accounts.flatMap { $0.reports() }, lacking: lacking, now: now())
                return nil
            },
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
                    now: now, mayClaim: mayClaim, counting: counting, logger: logger
                ).run)
        }
        return members + broadcasts + sending.flatMap { devices($0, keys, mayClaim) }
    }

    /// A loop whose rounds do all the work.
    ///
    /// - Parameters:
    ///   - failure: the log message when a round fails.
    ///   - round: returns when the next round is due; `nil`: after `pollInterval`.
    private func looking(
        _ role: Configuration.Role?, _ name: String, _ settings: WorkLoop<Never>.Settings, _ failure: String,
        wakenBy wakes: AsyncStream<Void>? = nil, _ round: @escaping @Sendable () async throws -> Date?
    ) -> Member {
        let loop = WorkLoop<Never>(settings, failure: failure, logger: logger, now: api.now) {
            .idle(until: try await round())
        }
        return Member(role, name) { await loop.run(wakenBy: wakes) }
    }

    private func looking(
        _ role: Configuration.Role?, _ name: String, every seconds: TimeInterval, _ failure: String,
        wakenBy wakes: AsyncStream<Void>? = nil, _ round: @escaping @Sendable () async throws -> Date?
    ) -> Member {
        let interval = Duration.seconds(seconds)
        return looking(
            role, name, .init(pollInterval: interval, retry: min(interval, .seconds(5))), failure, wakenBy: wakes, round
        )
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
        return [Member(.dispatch, "starts", starts.run), Member(.dispatch, "crowds", updates.run)]
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
