internal import CoreMetrics
package import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import HTTP2
package import Logging

/// A server that is built but not running yet: everything that it is made of. `serve`, the demo and the end-to-end tests
/// use it.
package struct Server: Sendable {
    let configuration: Configuration
    let logger: Logger
    let keyRing: KeyRing
    /// `nil`: the API is served without TLS.
    let certificates: TLSCertificates?
    let webhookClient: WebhookClient
    let database: DatabaseSession
    /// Knows the database's troubles.
    let watch: DatabaseWatch
    /// The database's clock, which all replicas use.
    let clock: DatabaseClock
    /// The time that a stop leaves for work in progress.
    let drain: Drain
    let databases: Databases
    /// Wakes the loops.
    let signals: WakeSignals
    let gateway: APNsClient
    /// The client for calls. It detects that Apple refuses a call because the capability is off.
    let watched: QuirkGateway
    let channelCalls: ChannelCalls
    /// Reads the metrics of the whole database.
    let gauges: GaugeWatch
    /// Chooses the connections to close when there are too many.
    let shares: ConnectionShares
    let api: API
    /// Counts occurrences for the metrics.
    let counting: Counting

    /// Seconds until the work of a dead replica is taken over. It is short, because the work has to continue within 10
    /// seconds. Whoever still works extends the lease.
    static let lease: TimeInterval = 6

    /// Opens the database and builds all parts. Errors of the configuration show here, before the server listens.
    ///
    /// - Parameter wallClock: this machine's clock, for times that other systems such as APNs compare with their
    ///   clocks. For times that replicas share, the server uses the database's clock.
    /// - Throws: `ConfigurationError`, `StartError`; each is one line. Before it throws, it closes what it has opened.
    package static func build(
        _ configuration: Configuration, wallClock: @escaping @Sendable () -> Date = { Date() }, logger: Logger
    ) async throws -> Server {
        // Files and addresses, which fail before anything is opened.
        let keyRing = KeyRing(directory: configuration.keyDirectory)
        let templates = try ConsoleTemplates()
        let certificates = try configuration.tls.map { try TLSCertificates($0, logger: logger) }
        do {
            try configuration.trustRoots.check()
        } catch {
            throw StartError("GRANDSTAND_APNS_CA_FILE: \(error.message)")
        }
        let webhookClient = try webhookClient(configuration, wallClock)
        if configuration.roles.contains(.api) {
            try await ListeningAddress.probe(configuration.host, configuration.port, variable: "GRANDSTAND_PORT")
        }
        if let port = configuration.operationsPort {
            try await ListeningAddress.probe(configuration.host, port, variable: "GRANDSTAND_OPERATIONS_PORT")
        }

        // The database and its clock.
        let metrics = ServerMetrics()
        let watch = DatabaseWatch(logger: logger)
        let database = try await DatabaseSession.open(
            configuration.database, sizes: PoolSizes(total: configuration.databaseConnections),
            onWait: { pool in
                let timer = CoreMetrics.Timer(
                    label: "grandstand_database_wait_seconds", dimensions: [("pool", pool)], factory: metrics)
                return { timer.record($0) }
            }, onFailure: { watch.saw($0) }, logger: logger)
        let clock: DatabaseClock
        do {
            let offset = Gauge(label: "grandstand_clock_offset_seconds", factory: metrics)
            clock = try await database.clock(wall: wallClock, onLead: { offset.record($0) }, logger: logger)
            guard clock.standing != .unusable else {
                throw StartError(
                    "this machine's clock is \(DatabaseClock.words(clock.lead)); set both machines' clocks by NTP, then "
                        + "start again: APNs would refuse tokens that are signed here")
            }
        } catch {
            await database.close()
            throw error
        }
        let now: @Sendable () -> Date = { clock.now }

        // The stores.
        let counting = metrics.counting
        let databases = Databases(database, counting: counting)
        let signals = WakeSignals(database.pool)
        let stores = Stores(databases, configuration, signals: signals, logger: logger)
        let keys = CachedKeyStore(
            KeyStore(database: databases.main), staleLimit: configuration.lookupStaleness, now: now)
        let lookups = LookupReplica(
            store: LookupStore(database: databases[.lookup]), keys: keys,
            settings: .init(staleLimit: configuration.lookupStaleness), now: now, logger: logger)
        database.changes.follow { lookups.changed($0) }

        // APNs: the client, and the calls that manage channels.
        let apps = AppStore(databases.main)
        var client = configuration.clientSettings()
        client.noteRefusal = { try await apps.note($0, of: $1) }
        client.metrics = metrics
        let gateway = APNsClient(settings: client, keys: keyRing, now: wallClock, logger: logger)
        let watched = QuirkGateway(
            gateway: gateway, remember: { try await apps.remember($0, for: $1) }, now: now, logger: logger)
        let calls = ChannelCalls(
            gateway: watched, channels: stores.channels, reconciliations: stores.reconciliations, lease: lease,
            now: now, logger: logger)

        // The API and the console.
        let gauges = GaugeWatch(
            databases.main, channels: stores.channels, tenure: configuration.tenure, now: now)
        let shares = ConnectionShares(maximum: configuration.maximumConnections)
        let readiness: @Sendable () -> Contract.Readiness = { .init(watch.standing, clock, gateway) }
        metrics.tell {
            gauges.current + Gauges.of(database) + watch.gauges(isClockWrong: clock.standing == .unusable)
                + [GaugeSample("grandstand_ready", readiness().status == .ready ? 1 : 0)] + Gauges.of(lookups)
        }
        var api = API(
            configuration: configuration, stores: stores, keys: keys,
            keyUses: KeyUses { try await keys.store.used($0) }, limits: RateLimits(configuration),
            lookups: lookups, gateway: gateway,
            channelOperations: calls, reconciliation: Reconciliation(calls: calls, counting: counting),
            webhookRefusal: { await webhookClient.refusal(of: $0) },
            readiness: readiness, metrics: metrics, onTrust: { shares.know($0) }, now: now, logger: logger)
        let reports = databases[.report].forLongWork
        api.pages =
            Console(
                api: api,
                activity: { try await ConsoleActivity(reports, apple: Figure.apple(gateway), within: $0, now: $1) },
                templates: templates
            ).pages

        return Server(
            configuration: configuration, logger: logger, keyRing: keyRing, certificates: certificates,
            webhookClient: webhookClient, database: database, watch: watch, clock: clock,
            drain: Drain(configuration.drain), databases: databases, signals: signals, gateway: gateway,
            watched: watched, channelCalls: calls, gauges: gauges, shares: shares, api: api,
            counting: counting)
    }

    private static func webhookClient(
        _ configuration: Configuration, _ wallClock: @escaping @Sendable () -> Date
    ) throws -> WebhookClient {
        do {
            return try WebhookClient(
                settings: .init(
                    networks: configuration.webhookNetworks, timeout: configuration.webhookTimeout,
                    trustedFile: configuration.webhookTrustedFile),
                now: wallClock)
        } catch {
            throw StartError("GRANDSTAND_WEBHOOK_CA_FILE: \(error)")
        }
    }

    /// The key ledger, for commands and tests that create the first key.
    package var keys: KeyStore { api.keys.store }

    /// The database's connection string, for a second server on the same database.
    package var databaseURL: String { database.url }

    /// The time within which a stop must end. A stop that takes longer waits for work that cannot be cancelled. `nil`:
    /// the time depends on the embedded PostgreSQL.
    package var longestStop: Duration? {
        if case .url = configuration.database { configuration.drain + Drain.margin + .seconds(2) } else { nil }
    }

    /// Closes what `build` opened, if the server is not run.
    package func close() async {
        await gateway.close()
        await database.close()
    }
}

/// Why a server did not start, in one line with advice.
package struct StartError: Error, Equatable, CustomStringConvertible {
    package let description: String

    package init(_ description: String) { self.description = description }
}

extension Duration {
    var seconds: TimeInterval {
        Double(components.seconds) + Double(components.attoseconds) / 1e18
    }
}
