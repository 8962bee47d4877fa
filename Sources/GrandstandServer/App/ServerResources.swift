internal import FoundationEssentials
internal import Grandstand
internal import HTTP2
internal import Logging

/// The resources that a server opens: files, then the database and its clock. If a start fails, it fails here, before
/// the server listens.
struct ServerResources: Sendable {
    let keyRing: KeyRing
    /// `nil`: the API is served without TLS.
    let certificates: TLSCertificates?
    let templates: ConsoleTemplates
    let webhookClient: WebhookClient
    let metrics: ServerMetrics
    /// Counts occurrences for the metrics.
    let counting: Counting
    let database: DatabaseSession
    /// Knows the database's troubles.
    let watch: DatabaseWatch
    /// The database's clock, which all replicas use.
    let clock: DatabaseClock
    /// This machine's clock, for times that other systems such as APNs compare with their clocks.
    let wallClock: @Sendable () -> Date

    /// The time that a stop leaves for work in progress.
    let drain: Drain

    /// The database's time.
    var now: @Sendable () -> Date { { [clock] in clock.now } }
    /// Whether this process may claim work. It may not if this machine's clock is so wrong that Apple would refuse
    /// provider tokens.
    var mayClaim: @Sendable () -> Bool { { [clock] in clock.mayClaim } }

    /// - Throws: `StartError`, `ConfigurationError`, whose text is one line. Before it throws, it closes what it has
    ///   opened.
    static func open(
        _ configuration: Configuration, wallClock: @escaping @Sendable () -> Date, logger: Logger
    ) async throws -> ServerResources {
        let keyRing = KeyRing(directory: configuration.keyDirectory)
        let templates = try ConsoleTemplates()
        let certificates = try configuration.tls.map { try TLSCertificates($0, logger: logger) }
        do {
            try configuration.trustRoots.check()
        } catch {
            throw StartError("GRANDSTAND_APNS_CA_FILE: \(error.message)")
        }
        let webhookClient = try webhookClient(configuration, wallClock)
        try await probeAddresses(configuration)
        let metrics = ServerMetrics()
        let watch = DatabaseWatch(logger: logger)
        let database = try await DatabaseSession.open(
            configuration.database, sizes: PoolSizes(total: configuration.databaseConnections),
            onWait: { metrics.waits(of: $0) }, onFailure: { watch.saw($0) }, logger: logger)
        do {
            let clock = try await database.clock(wall: wallClock, onLead: metrics.clockOffset, logger: logger)
            try refuseUnusable(clock)
            watch.look(with: DatabaseProbe(database.probePool))
            return ServerResources(
                keyRing: keyRing, certificates: certificates, templates: templates, webhookClient: webhookClient,
                metrics: metrics, counting: metrics.counting, database: database, watch: watch, clock: clock,
                wallClock: wallClock,
                drain: Drain(configuration.drain))
        } catch {
            await database.close()
            throw error
        }
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

    private static func probeAddresses(_ configuration: Configuration) async throws {
        if configuration.roles.contains(.api) {
            try await ListeningAddress.probe(configuration.host, configuration.port, variable: "GRANDSTAND_PORT")
        }
        if let port = configuration.operationsPort {
            try await ListeningAddress.probe(configuration.host, port, variable: "GRANDSTAND_OPERATIONS_PORT")
        }
    }

    private static func refuseUnusable(_ clock: DatabaseClock) throws(StartError) {
        guard clock.standing == .unusable else { return }
        throw StartError(
            "this machine's clock is \(DatabaseClock.words(clock.lead)); set both machines' clocks by NTP, then start "
                + "again: APNs would refuse tokens that are signed here")
    }
}
