internal import APNsWire
internal import Configuration
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

    package var database: DatabaseSource = .embedded(directory: ".grandstand")
    var roles = Set(Role.allCases)
    package var host = "127.0.0.1"
    /// 0: the system picks a free port, which is logged.
    package var port = 8080
    var tls: TLS? {
        guard let certificatePath, let keyPath else { return nil }
        return TLS(certificatePath: certificatePath, keyPath: keyPath)
    }
    var certificatePath: String?
    var keyPath: String?
    /// The port of `/healthz`, `/readyz` and `/metrics`; `nil`: the API's.
    var operationsPort: Int?
    /// The proxies whose forwarding headers are trusted.
    var trustedProxies = TrustedProxies()
    /// Requests of one key per second; 0: no limit.
    var rateLimit = 10_000.0
    /// Failed authentications of one address per minute; 0: no limit.
    var failureLimit = 600.0
    /// The database connections of all pools together.
    var databaseConnections = PoolSizes.standard
    /// The total time that a call waits for the database.
    var databaseWait = PostgresTimeLimit.standardWait
    /// New installations of one address per minute; 0: no limit.
    var installationLimit = 6_000.0
    /// New installations of one app and environment per hour; 0: no limit.
    var appInstallationLimit = 1_000_000
    /// The most open connections. Further ones wait until they are accepted.
    package var maximumConnections = 10_000
    /// How long a client may take to send a request's header. The body may take three times as long.
    var clientTimeout = Duration.seconds(10)
    var keyDirectory = "keys"
    package var endpoints = Endpoints(send: apple(\.sendURL), manage: apple(\.manageURL))
    package var trustRoots = HTTP2ClientConfiguration.TrustRoots.system
    /// Whether `HTTPS_PROXY` is set. It is ignored, and `serve` and `doctor` say so.
    package var isProxyIgnored = false
    /// Connections to APNs for each host, team and key, before the pool grows under load.
    package var connections = 2
    /// The time after which a request to APNs counts as unanswered.
    var requestTimeout = Duration.seconds(5)
    /// Seconds between two messages of one lane; 0: no pause.
    var laneInterval: TimeInterval = 1
    /// Seconds between two pushes by token to an activity whose user turned frequent updates off; 0: no pause. Alerts
    /// do not wait.
    var infrequentInterval: TimeInterval = 60
    /// Seconds after which an alert is too old, if the broadcast has no `expiresIn`.
    var alertFreshness = DeliveryPlan.alertFreshness
    /// How long events hold their channels.
    package var tenure = ChannelTenure()
    /// Seconds between two regular reconciliations of one app and environment; 0: no regular ones.
    var reconcileInterval: TimeInterval = 3_600
    /// Seconds that an unmanaged channel must have been known before it may be deleted.
    var reconcileGrace: TimeInterval = 600
    /// The most deletions of one reconciliation.
    var reconcileDeleteBudget = 100
    /// Seconds for which settled broadcasts are kept.
    var history: TimeInterval = 30 * 86_400
    /// Seconds for which an installation that does not report itself is kept.
    var installations: TimeInterval = 180 * 86_400
    /// Seconds for which entries of the audit log are kept, and keys after they were revoked or expired.
    var audit: TimeInterval = 400 * 86_400
    /// Seconds for which lookups are answered from memory while the database cannot confirm the answers.
    var lookupStaleness: TimeInterval = 600
    /// The private networks that webhooks may call in addition to the internet, and whether webhooks may use HTTP
    /// without TLS.
    var webhookNetworks = NetworkGuard()
    /// The time after which a message to a webhook counts as unanswered.
    var webhookTimeout = Duration.seconds(15)
    /// PEM certificates that webhooks trust in addition to the system's.
    var webhookTrustedFile: String?
    /// How long a stop waits for requests in flight.
    var drain = Duration.seconds(10)
    package var logLevel = Logger.Level.info
    var logFormat = LogFormat.text
}

extension Configuration {
    /// Every setting, and in the comment above it what it means and its default. `scripts/generate-settings` writes the
    /// table of docs/settings.md from them.
    static let settings: [Setting] = [
        // where the embedded PostgreSQL keeps its data | `.grandstand`
        Setting("GRANDSTAND_DATA_DIR", .text) { $0.database = .embedded(directory: $1) },
        // a libpq URI or keyword string, of PostgreSQL 15 or later. If it names several hosts, the one that accepts writes
        // is used ([failover](deploy.md#fail-over)). A pooler must be in [session
        // mode](deploy.md#behind-another-load-balancer) | unset: an embedded PostgreSQL
        Setting("DATABASE_URL", .connectionString) { $0.database = .url($1) },
        // where the API listens; port `0` takes a free one and logs it | `127.0.0.1`
        Setting("GRANDSTAND_HOST", .text) { $0.host = $1 },
        // | `8080`
        Setting("GRANDSTAND_PORT", .port) { $0.port = $1 },
        // PEM files. With both, the API uses HTTPS. They are read again when they change | unset
        Setting("GRANDSTAND_TLS_CERT", .readableFile) { $0.certificatePath = $1 },
        Setting("GRANDSTAND_TLS_KEY", .readableFile) { $0.keyPath = $1 },
        // a port for `/healthz`, `/readyz` and `/metrics`, without TLS and keys, for operators only | unset: they are on
        // the API's port. There `/metrics` needs an API key of scope `operate` or `admin` for all apps, and `/readyz`
        // names no hosts and no signing keys
        Setting("GRANDSTAND_OPERATIONS_PORT", .port) { $0.operationsPort = $1 },
        // addresses and ranges of proxies, such as `10.0.0.0/8,fd00::1`, whose `X-Forwarded-For` and `X-Forwarded-Host`
        // are trusted; `X-Forwarded-Proto` is trusted from everybody ([load
        // balancers](deploy.md#behind-another-load-balancer)) | unset: none
        Setting("GRANDSTAND_TRUSTED_PROXIES", .networks) { $0.trustedProxies = TrustedProxies($1) },
        // requests a second of one key to one process; bursts may have twice as many; `0`: no limit. Lookups and requests
        // about installations have no limit. Other requests with a `lookup` or `device` key are limited to ten a second |
        // `10000`
        Setting("GRANDSTAND_RATE_LIMIT", .number(0...1_000_000, "requests a second")) { $0.rateLimit = $1 },
        // requests a minute without a valid key from one address (IPv6: /64); then 429 instead of 401. Valid keys are not
        // affected; `0`: no limit | `600`
        Setting("GRANDSTAND_AUTH_FAILURE_LIMIT", .number(0...1_000_000, "requests a minute")) { $0.failureLimit = $1 },
        // connections of this process to PostgreSQL, 8 to 1000 | `44`
        Setting("GRANDSTAND_DATABASE_CONNECTIONS", .integer(PoolSizes.minimum...1_000, "connections")) {
            $0.databaseConnections = $1
        },
        // seconds that one call waits for PostgreSQL in total before it is answered 503; 0.5 to 60 | `3.5`
        Setting("GRANDSTAND_DATABASE_WAIT", .seconds(0.5...60)) { $0.databaseWait = .seconds($1) },
        // new installations a minute from one address (IPv6: /64). Known installations are not limited. Private addresses
        // are not limited either, because they may be proxies: name your proxies in `GRANDSTAND_TRUSTED_PROXIES`, so that
        // the phones' own addresses count | `6000`
        Setting("GRANDSTAND_INSTALLATION_LIMIT", .number(0...1_000_000, "installations a minute")) {
            $0.installationLimit = $1
        },
        // new installations of one app and environment in a clock hour, from all addresses; `0`: no limit | `1000000`
        Setting("GRANDSTAND_APP_INSTALLATION_LIMIT", .integer(0...1_000_000_000, "installations an hour")) {
            $0.appInstallationLimit = $1
        },
        // connections to the API, at least 2. A tenth is reserved for connections on which a request had a key of an
        // organiser or operator. If there are too many other connections, the oldest of those is closed | `10000`
        Setting("GRANDSTAND_MAX_CONNECTIONS", .integer(2...1_000_000, "connections")) { $0.maximumConnections = $1 },
        // seconds that a client has to send a request's header. For a body, or to read an answer, it has three times as
        // long, and between two requests six times. If clients leave more than 128 MiB of answers unread, the slowest are
        // disconnected earlier | `10`
        Setting("GRANDSTAND_CLIENT_TIMEOUT", .seconds(0.1...3_600)) { $0.clientTimeout = .seconds($1) },
        // folder with `AuthKey_<KEYID>.p8` files. Changed files are read again within two seconds, also behind links |
        // `keys`
        Setting("GRANDSTAND_APNS_KEY_DIR", .text) { $0.keyDirectory = $1 },
        // base URLs of APNs, with host and port | Apple's
        Setting("GRANDSTAND_APNS_DEVELOPMENT_SEND_URL", .endpoint) { $0.endpoints.send[.development] = $1 },
        Setting("GRANDSTAND_APNS_PRODUCTION_SEND_URL", .endpoint) { $0.endpoints.send[.production] = $1 },
        Setting("GRANDSTAND_APNS_DEVELOPMENT_MANAGE_URL", .endpoint) { $0.endpoints.manage[.development] = $1 },
        Setting("GRANDSTAND_APNS_PRODUCTION_MANAGE_URL", .endpoint) { $0.endpoints.manage[.production] = $1 },
        // PEM certificates trusted for these hosts instead of the system's. Read for each new connection | unset
        Setting("GRANDSTAND_APNS_CA_FILE", .readableFile) { $0.trustRoots = .file($1) },
        // ignored: connections to APNs use no proxy. `serve` and `doctor` say so | unset
        Setting("HTTPS_PROXY", .text) { configuration, _ in configuration.isProxyIgnored = true },
        // connections for each host, team and key; up to four times as many under load | `2`
        Setting("GRANDSTAND_APNS_CONNECTIONS", .integer(1...64, "connections")) { $0.connections = $1 },
        // seconds until a request to APNs counts as unanswered | `5`
        Setting("GRANDSTAND_APNS_REQUEST_TIMEOUT", .seconds(0.1...300)) { $0.requestTimeout = .seconds($1) },
        // seconds between two messages of one channel; after a message that waited longer than this, the next pause may be
        // half as long. Fractions allowed; `0`: no pause | `1`
        Setting("GRANDSTAND_LANE_INTERVAL", .seconds(0...3_600)) { $0.laneInterval = $1 },
        // seconds between two pushes by token to an activity whose owner switched frequent pushes off; alerts do not wait
        // | `60`
        Setting("GRANDSTAND_INFREQUENT_INTERVAL", .seconds(0...3_600)) { $0.infrequentInterval = $1 },
        // seconds for which a message keeps its alert if neither it nor the event's `defaults` have `expiresIn`; later it
        // is sent without the alert | `900`
        Setting("GRANDSTAND_ALERT_FRESH", .seconds(1...28_800)) { $0.alertFreshness = $1 },
        // seconds that the channel of an event is kept after its end, unless an event that [takes its
        // place](states.md#a-channel) waits | `14400`
        Setting("GRANDSTAND_RETIRE_AFTER", .seconds(0...2_592_000)) { $0.tenure.retireAfter = $1 },
        // hours after which an event without `endsAt` is closed, counted from the latest of its last message, `startsAt`,
        // `channelsOpenAt` and declaration; fractions allowed, at least 0.01 | `48`
        Setting("GRANDSTAND_EVENT_QUIET_HOURS", .number(0.01...8_760, "hours")) { $0.tenure.quietAfter = 3_600 * $1 },
        // seconds between automatic reconciliations; `0`: none | `3600`
        Setting("GRANDSTAND_RECONCILE_INTERVAL", .seconds(0...2_592_000)) { $0.reconcileInterval = $1 },
        // seconds until an unmanaged channel may be deleted, from the first time that a reconciliation found it | `600`
        Setting("GRANDSTAND_RECONCILE_GRACE", .seconds(0...2_592_000)) { $0.reconcileGrace = $1 },
        // the most deletions of one reconciliation | `100`
        Setting("GRANDSTAND_RECONCILE_DELETE_BUDGET", .integer(0...10_000, "deletions")) {
            $0.reconcileDeleteBudget = $1
        },
        // days for which history is kept ([what is kept](runbook.md#what-is-kept-and-how-long)); fractions allowed, at
        // least 1 | `30`
        Setting("GRANDSTAND_HISTORY_DAYS", .number(1...3_650, "days")) { $0.history = 86_400 * $1 },
        // days without a report after which an installation is deleted; fractions allowed, at least 1 | `180`
        Setting("GRANDSTAND_INSTALLATION_DAYS", .number(1...3_650, "days")) { $0.installations = 86_400 * $1 },
        // days for which audit entries, and keys after their end, are kept; at least 31 | `400`
        Setting("GRANDSTAND_AUDIT_DAYS", .number(31...36_500, "days")) { $0.audit = 86_400 * $1 },
        // seconds for which lookups are answered from memory while the database cannot confirm them | `600`
        Setting("GRANDSTAND_LOOKUP_STALE_SECONDS", .seconds(0...86_400)) { $0.lookupStaleness = $1 },
        // what this process does: `api` answers requests; `dispatch` sends messages; `reconcile` creates, retires and
        // reconciles channels | `api,dispatch,reconcile`
        Setting("GRANDSTAND_ROLES", .words()) { $0.roles = $1 },
        // [webhooks](webhooks.md#allowed-addresses) |
        Setting("GRANDSTAND_WEBHOOK_NETWORKS", .networks) { $0.webhookNetworks.allowed = $1 },
        Setting("GRANDSTAND_WEBHOOK_HTTP", .flag) { $0.webhookNetworks.allowsPlainHTTP = $1 },
        Setting("GRANDSTAND_WEBHOOK_TIMEOUT", .seconds(0.1...120)) { $0.webhookTimeout = .seconds($1) },
        Setting("GRANDSTAND_WEBHOOK_CA_FILE", .readableFile) { $0.webhookTrustedFile = $1 },
        // seconds that the process waits for work in progress after SIGTERM. Four seconds later it ends in any case; with
        // the embedded PostgreSQL, only once that has stopped | `10`
        Setting("GRANDSTAND_DRAIN_SECONDS", .seconds(0...3_600)) { $0.drain = .seconds($1) },
        // `trace`, `debug`, `info`, `notice`, `warning`, `error` or `critical`; `text` or `json` lines on standard error |
        // `info`
        Setting("GRANDSTAND_LOG_LEVEL", .word()) { $0.logLevel = $1 },
        // | `text`
        Setting("GRANDSTAND_LOG_FORMAT", .word()) { $0.logFormat = $1 },
    ]

    /// Reads the settings from environment variables. An empty variable counts as unset.
    ///
    /// - Throws: `ConfigurationError` with the name of the variable, before anything is opened.
    package init(environment: [String: String]) throws(ConfigurationError) {
        let reader = ConfigReader(provider: EnvironmentVariablesProvider(environmentVariables: environment))
        for setting in Self.settings {
            let key = ConfigKey(setting.name.lowercased().split(separator: "_").map(String.init))
            guard let text = reader.string(forKey: key, isSecret: true), !text.isEmpty else { continue }
            do throws(SettingFault) {
                try setting.read(text, &self)
            } catch {
                throw ConfigurationError(setting.name, error.why)
            }
        }
        switch (certificatePath, keyPath) {
        case (nil, nil), (_?, _?): break
        case (nil, _?): throw ConfigurationError("GRANDSTAND_TLS_CERT", "must be set together with GRANDSTAND_TLS_KEY")
        case (_?, nil): throw ConfigurationError("GRANDSTAND_TLS_KEY", "must be set together with GRANDSTAND_TLS_CERT")
        }
        if roles.contains(.api), let operationsPort, operationsPort == port, port != 0 {
            throw ConfigurationError(
                "GRANDSTAND_OPERATIONS_PORT",
                "\(port) is also GRANDSTAND_PORT; unset this variable or choose another port")
        }
        try Self.refuseMisspelt(environment.keys.sorted())
    }
}

extension Configuration {
    private static func apple(_ url: (APNsEnvironment) -> String) -> [APNsEnvironment: Endpoint] {
        var hosts: [APNsEnvironment: Endpoint] = [:]
        for environment in APNsEnvironment.allCases { hosts[environment] = Endpoint(url: url(environment)) }
        return hosts
    }

    /// The most connections of one pool.
    private var connectionsUnderLoad: Int { connections * 4 }

    /// The most broadcasts in flight in one environment. The flow-control windows of one connection hold about a
    /// hundred broadcasts (docs/internals/http2.md), and the pool opens more connections as they fill.
    var broadcastsUnderWay: Int { 100 * connectionsUnderLoad }

    /// The most pushes to devices in flight in one environment. It is half the number of broadcasts, so that a million
    /// starts leave processor time for the broadcast of a goal.
    var devicePushesUnderWay: Int { broadcastsUnderWay / 2 }

    func clientSettings() -> APNsClient.Settings {
        var settings = APNsClient.Settings(endpoints: endpoints)
        settings.trustRoots = trustRoots
        settings.connections = connections
        settings.maximumConnections = connectionsUnderLoad
        settings.requestTimeout = requestTimeout
        return settings
    }
}
