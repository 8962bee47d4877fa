internal import APNsWire
internal import FoundationEssentials
package import Grandstand
package import HTTP2
package import Logging
internal import Postgres

/// All settings of a server, checked before anything is opened. Each setting is declared and read in this file.
package struct Configuration: Sendable {
    /// The location of the database.
    package enum DatabaseSource: Sendable, Hashable {
        /// A libpq connection string, used as it is.
        case url(String)
        /// A private PostgreSQL cluster in this folder.
        case embedded(directory: String)
    }

    /// PEM files. With them the API speaks HTTPS.
    struct TLS: Sendable, Hashable {
        var certificatePath: String
        var keyPath: String
    }

    enum LogFormat: String, Sendable, Hashable, CaseIterable {
        case text
        case json
    }

    /// The parts of the server that a process may run. Other processes on the same database run the rest.
    enum Role: String, Sendable, Hashable, CaseIterable {
        /// The HTTP API.
        case api
        /// Sends broadcasts.
        case dispatch
        /// Creates, deletes and reconciles channels.
        case reconcile
    }

    package var database: DatabaseSource
    var roles: Set<Role>
    package var host: String
    /// 0: the system picks a free port, which is logged.
    package var port: Int
    var tls: TLS?
    /// The port of `/healthz`, `/readyz` and `/metrics`; `nil`: the API's.
    var operationsPort: Int?
    /// The proxies whose forwarding headers are trusted.
    var trustedProxies: TrustedProxies
    /// Requests of one key per second; 0: no limit.
    var rateLimit: Double
    /// Failed authentications of one address per minute; 0: no limit.
    var failureLimit: Double
    /// The database connections of all pools together.
    var databaseConnections: Int
    /// The total time that a call waits for the database.
    var databaseWait: Duration
    /// New installations of one address per minute; 0: no limit.
    var installationLimit: Double
    /// New installations of one app and environment per hour; 0: no limit.
    var appInstallationLimit: Int
    /// The most open connections. Further ones wait until they are accepted.
    package var maximumConnections: Int
    /// How long a client may take to send a request's header. The body may take three times as long.
    var clientTimeout: Duration
    var keyDirectory: String
    package var endpoints: Endpoints
    package var trustRoots: HTTP2ClientConfiguration.TrustRoots
    /// Whether `HTTPS_PROXY` is set. It is ignored, and `serve` and `doctor` say so.
    package var isProxyIgnored: Bool
    /// Connections to APNs for each host, team and key, before the pool grows under load.
    package var connections: Int
    /// The time after which a request to APNs counts as unanswered.
    var requestTimeout: Duration
    /// Seconds between two messages of one lane; 0: no pause.
    var laneInterval: TimeInterval
    /// Seconds between two pushes by token to an activity whose user turned frequent updates off; 0: no pause. Alerts
    /// do not wait.
    var infrequentInterval: TimeInterval
    /// Seconds after which an alert is too old, if the broadcast has no `expiresIn`.
    var alertFreshness: TimeInterval
    /// How long events hold their channels.
    package var tenure: ChannelTenure
    /// Seconds between two regular reconciliations of one app and environment; 0: no regular ones.
    var reconcileInterval: TimeInterval
    /// Seconds that an unmanaged channel must have been known before it may be deleted.
    var reconcileGrace: TimeInterval
    /// The most deletions of one reconciliation.
    var reconcileDeleteBudget: Int
    /// Seconds for which settled broadcasts are kept.
    var history: TimeInterval
    /// Seconds for which an installation that does not report itself is kept.
    var installations: TimeInterval
    /// Seconds for which entries of the audit log are kept, and keys after they were revoked or expired.
    var audit: TimeInterval
    /// Seconds for which lookups are answered from memory while the database cannot confirm the answers.
    var lookupStaleness: TimeInterval
    /// The private networks that webhooks may call in addition to the internet, and whether webhooks may use HTTP
    /// without TLS.
    var webhookNetworks: NetworkGuard
    /// The time after which a message to a webhook counts as unanswered.
    var webhookTimeout: Duration
    /// PEM certificates that webhooks trust in addition to the system's.
    var webhookTrustedFile: String?
    /// How long a stop waits for requests in flight.
    var drain: Duration
    package var logLevel: Logger.Level
    var logFormat: LogFormat
}

extension Configuration {
    /// Reads the settings from environment variables (docs/settings.md).
    ///
    /// - Throws: `ConfigurationError` with the name of the variable, before anything is opened.
    package init(environment: [String: String]) throws(ConfigurationError) {
        let settings = Variables(environment)
        try self.init(settings)
        try settings.refuseMisspelt()
    }

    private init(_ settings: Variables) throws(ConfigurationError) {
        database =
            try settings.connectionString("DATABASE_URL").map(DatabaseSource.url)
            ?? .embedded(directory: settings["GRANDSTAND_DATA_DIR"] ?? ".grandstand")
        host = settings["GRANDSTAND_HOST"] ?? "127.0.0.1"
        port = try settings.port("GRANDSTAND_PORT") ?? 8080
        tls = try Self.tls(settings)
        operationsPort = try settings.port("GRANDSTAND_OPERATIONS_PORT")
        trustedProxies = TrustedProxies(try settings.networks("GRANDSTAND_TRUSTED_PROXIES"))
        rateLimit = try settings.number("GRANDSTAND_RATE_LIMIT", in: 0...1_000_000, of: "requests a second") ?? 10_000
        failureLimit =
            try settings.number("GRANDSTAND_AUTH_FAILURE_LIMIT", in: 0...1_000_000, of: "requests a minute") ?? 600
        databaseConnections =
            try settings.integer("GRANDSTAND_DATABASE_CONNECTIONS", in: PoolSizes.minimum...1_000, of: "connections")
            ?? PoolSizes.standard
        databaseWait =
            try settings.number("GRANDSTAND_DATABASE_WAIT", in: 0.5...60, of: "seconds").map(Duration.seconds)
            ?? PostgresTimeLimit.standardWait
        installationLimit =
            try settings.number("GRANDSTAND_INSTALLATION_LIMIT", in: 0...1_000_000, of: "installations a minute")
            ?? 6_000
        appInstallationLimit =
            try settings.integer(
                "GRANDSTAND_APP_INSTALLATION_LIMIT", in: 0...1_000_000_000, of: "installations an hour")
            ?? 1_000_000
        maximumConnections =
            try settings.integer("GRANDSTAND_MAX_CONNECTIONS", in: 2...1_000_000, of: "connections") ?? 10_000
        clientTimeout = .seconds(try settings.seconds("GRANDSTAND_CLIENT_TIMEOUT", in: 0.1...3_600) ?? 10)
        keyDirectory = settings["GRANDSTAND_APNS_KEY_DIR"] ?? "keys"
        endpoints = Endpoints(
            send: [
                .development: try settings.endpoint(
                    "GRANDSTAND_APNS_DEVELOPMENT_SEND_URL", APNsEnvironment.development.sendURL),
                .production: try settings.endpoint(
                    "GRANDSTAND_APNS_PRODUCTION_SEND_URL", APNsEnvironment.production.sendURL),
            ],
            manage: [
                .development: try settings.endpoint(
                    "GRANDSTAND_APNS_DEVELOPMENT_MANAGE_URL", APNsEnvironment.development.manageURL),
                .production: try settings.endpoint(
                    "GRANDSTAND_APNS_PRODUCTION_MANAGE_URL", APNsEnvironment.production.manageURL),
            ])
        trustRoots = try settings.readableFile("GRANDSTAND_APNS_CA_FILE").map { .file($0) } ?? .system
        isProxyIgnored = settings["HTTPS_PROXY"] != nil
        connections = try settings.integer("GRANDSTAND_APNS_CONNECTIONS", in: 1...64, of: "connections") ?? 2
        requestTimeout = .seconds(try settings.seconds("GRANDSTAND_APNS_REQUEST_TIMEOUT", in: 0.1...300) ?? 5)
        laneInterval = try settings.seconds("GRANDSTAND_LANE_INTERVAL", in: 0...3_600) ?? 1
        infrequentInterval = try settings.seconds("GRANDSTAND_INFREQUENT_INTERVAL", in: 0...3_600) ?? 60
        alertFreshness = try settings.seconds("GRANDSTAND_ALERT_FRESH", in: 1...28_800) ?? DeliveryPlan.alertFreshness
        tenure = ChannelTenure(
            retireAfter: try settings.seconds("GRANDSTAND_RETIRE_AFTER", in: 0...2_592_000) ?? 14_400,
            quietAfter: 3_600
                * (try settings.number("GRANDSTAND_EVENT_QUIET_HOURS", in: 0.01...8_760, of: "hours") ?? 48))
        reconcileInterval = try settings.seconds("GRANDSTAND_RECONCILE_INTERVAL", in: 0...2_592_000) ?? 3_600
        reconcileGrace = try settings.seconds("GRANDSTAND_RECONCILE_GRACE", in: 0...2_592_000) ?? 600
        reconcileDeleteBudget =
            try settings.integer("GRANDSTAND_RECONCILE_DELETE_BUDGET", in: 0...10_000, of: "deletions") ?? 100
        history = 86_400 * (try settings.number("GRANDSTAND_HISTORY_DAYS", in: 1...3_650, of: "days") ?? 30)
        installations = 86_400 * (try settings.number("GRANDSTAND_INSTALLATION_DAYS", in: 1...3_650, of: "days") ?? 180)
        audit = 86_400 * (try settings.number("GRANDSTAND_AUDIT_DAYS", in: 31...36_500, of: "days") ?? 400)
        lookupStaleness = try settings.seconds("GRANDSTAND_LOOKUP_STALE_SECONDS", in: 0...86_400) ?? 600
        roles = try settings.choices("GRANDSTAND_ROLES") ?? Set(Role.allCases)
        if roles.contains(.api), let operationsPort, operationsPort == port, port != 0 {
            throw ConfigurationError(
                "GRANDSTAND_OPERATIONS_PORT",
                "\(port) is also GRANDSTAND_PORT; unset this variable or choose another port")
        }
        webhookNetworks = NetworkGuard(
            allowed: try settings.networks("GRANDSTAND_WEBHOOK_NETWORKS"),
            allowsPlainHTTP: try settings.flag("GRANDSTAND_WEBHOOK_HTTP") ?? false)
        webhookTimeout = .seconds(try settings.seconds("GRANDSTAND_WEBHOOK_TIMEOUT", in: 0.1...120) ?? 15)
        webhookTrustedFile = try settings.readableFile("GRANDSTAND_WEBHOOK_CA_FILE")
        drain = .seconds(try settings.seconds("GRANDSTAND_DRAIN_SECONDS", in: 0...3_600) ?? 10)
        logLevel = try settings.choice("GRANDSTAND_LOG_LEVEL") ?? .info
        logFormat = try settings.choice("GRANDSTAND_LOG_FORMAT") ?? .text
    }

    private static func tls(_ settings: Variables) throws(ConfigurationError) -> TLS? {
        let certificate = try settings.readableFile("GRANDSTAND_TLS_CERT")
        let key = try settings.readableFile("GRANDSTAND_TLS_KEY")
        switch (certificate, key) {
        case (nil, nil): return nil
        case (let certificate?, let key?): return TLS(certificatePath: certificate, keyPath: key)
        case (nil, _?): throw ConfigurationError("GRANDSTAND_TLS_CERT", "must be set together with GRANDSTAND_TLS_KEY")
        case (_?, nil): throw ConfigurationError("GRANDSTAND_TLS_KEY", "must be set together with GRANDSTAND_TLS_CERT")
        }
    }
}
