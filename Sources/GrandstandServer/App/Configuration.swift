internal import APNsWire
internal import Configuration
internal import Grandstand
internal import HTTP2
internal import Logging

/// All settings of a server, checked before anything is opened. Each is a member with the name that it has in
/// `SettingTable`.
@dynamicMemberLookup
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

    /// The values by the names of their variables.
    let values: [String: any Sendable]
    /// The variables that are no settings but begin like them: other programs'.
    let unknown: [String]

    /// The value of a setting.
    package subscript<Value: Sendable>(dynamicMember path: KeyPath<SettingTable, Setting<Value>>) -> Value {
        let setting = SettingTable.shared[keyPath: path]
        guard let value = values[setting.name] as? Value else { preconditionFailure("\(setting.name) was not read") }
        return value
    }

    /// Reads the settings from environment variables. An empty variable counts as unset.
    ///
    /// - Throws: `ExitError` with the name of the variable, before anything is opened.
    package init(environment: [String: String]) throws(ExitError) {
        let reader = ConfigReader(provider: EnvironmentVariablesProvider(environmentVariables: environment))
        var values: [String: any Sendable] = [:]
        for setting in SettingTable.list {
            let key = ConfigKey(setting.name.lowercased().split(separator: "_").map(String.init))
            let text = reader.string(forKey: key, isSecret: true) ?? ""
            values[setting.name] = try setting.value(text)
        }
        self.values = values
        unknown = environment.keys.filter { $0.hasPrefix("GRANDSTAND_") && values[$0] == nil }.sorted()
        let known = values.keys.sorted()
        for variable in unknown {
            // A changed letter counts as two differences.
            let meant = known.first { "GRANDSTAND_" + $0 == variable || $0.difference(from: variable).count <= 3 }
            if let meant { throw ExitError(variable, "is not a setting; \(meant) is one") }
        }
        if (self.certificatePath == nil) != (self.tlsKeyPath == nil) {
            let (missing, present) = self.certificatePath == nil ? ("CERT", "KEY") : ("KEY", "CERT")
            throw ExitError(
                "GRANDSTAND_TLS_\(missing)", "must be set together with GRANDSTAND_TLS_\(present)")
        }
        if self.roles.contains(.api), self.operationsPort == self.port, self.port != 0 {
            throw ExitError("GRANDSTAND_OPERATIONS_PORT", "\(self.port) is GRANDSTAND_PORT")
        }
    }
}

/// Every setting with its default, and in the comment above it what it means. `scripts/generate-settings` writes the
/// table of docs/settings.md from them. Names are without `GRANDSTAND_`.
package struct SettingTable: Sendable {
    // where the embedded PostgreSQL keeps its data
    let dataDirectory = Setting("DATA_DIR", .text, ".grandstand")
    // a libpq URI or keyword string, of PostgreSQL 15 or later. If it names several hosts, the one that accepts writes
    // is used ([failover](deploy.md#fail-over)). A pooler must be in [session
    // mode](deploy.md#behind-another-load-balancer) | unset: an embedded PostgreSQL
    let databaseURL = Setting("DATABASE_URL", .connectionString)
    // where the API listens; port `0` takes a free one and logs it
    let host = Setting("HOST", .text, "127.0.0.1")
    let port = Setting("PORT", .integer(0...65_535), "8080")
    // PEM files. With both, the API uses HTTPS. They are read again when they change | unset
    let certificatePath = Setting("TLS_CERT", .readableFile)
    let tlsKeyPath = Setting("TLS_KEY", .readableFile)
    // a port for `/healthz`, `/readyz` and `/metrics`, without TLS and keys, for operators only | unset: they are on
    // the API's port. There `/metrics` needs [a key](metrics.md), and `/readyz` names no hosts and no signing keys
    let operationsPort = Setting("OPERATIONS_PORT", .integer(0...65_535))
    // addresses and ranges of proxies, such as `10.0.0.0/8,fd00::1`, whose `X-Forwarded-For` and `X-Forwarded-Host` are
    // trusted; `X-Forwarded-Proto` is trusted from everybody ([load balancers](deploy.md#behind-another-load-balancer))
    // | unset: none
    let proxyNetworks = Setting("TRUSTED_PROXIES", .networks, "")
    // requests a second of one key to one process; bursts may have twice as many; `0`: no limit. Lookups and requests
    // about installations have no limit. Other requests with a `lookup` or `device` key are limited to ten a second
    let rateLimit = Setting("RATE_LIMIT", .number(0...1e6), "10000")
    // requests a minute without a valid key from one address (IPv6: /64); then 429 instead of 401. Valid keys are not
    // affected; `0`: no limit
    let authFailureLimit = Setting("AUTH_FAILURE_LIMIT", .number(0...1e6), "600")
    // connections of this process to PostgreSQL, 8 to 1000
    let databaseConnections = Setting("DATABASE_CONNECTIONS", .integer(PoolSizes.minimum...1_000), "44")
    // seconds that one call waits for PostgreSQL in total before it is answered 503; 0.5 to 60
    let databaseTimeout = Setting("DATABASE_WAIT", .duration(0.5...60), "3.5")
    // new installations a minute from one address (IPv6: /64). Private addresses are not limited, because they may be
    // proxies: name your proxies in `GRANDSTAND_TRUSTED_PROXIES`, so that the phones' own addresses count
    let installationRate = Setting("INSTALLATION_LIMIT", .number(0...1e6), "6000")
    // new installations of one app and environment in a clock hour, from all addresses; `0`: no limit
    let appInstallationRate = Setting("APP_INSTALLATION_LIMIT", .integer(0...1_000_000_000), "1000000")
    // connections to the API, at least 2. A tenth is reserved for connections on which a request had a key of an
    // organiser or operator. If there are too many other connections, the oldest of those is closed
    let maximumConnections = Setting("MAX_CONNECTIONS", .integer(2...1_000_000), "10000")
    // seconds that a client has to send its first request's header. For a body, or to read an answer, it has three times
    // as long, and for a pause with the next header six times. If clients leave more than 128 MiB of answers unread, those with
    // the most are disconnected earlier
    let headerTimeout = Setting("CLIENT_TIMEOUT", .duration(0.1...3_600), "10")
    // folder with `AuthKey_<KEYID>.p8` files. Changed files are read again within two seconds, also behind links
    let keyDirectory = Setting("APNS_KEY_DIR", .text, "keys")
    // base URLs of APNs, with host and port | Apple's
    let developmentSend = Setting("APNS_DEVELOPMENT_SEND_URL", .endpoint, dev.sendURL)
    let productionSend = Setting("APNS_PRODUCTION_SEND_URL", .endpoint, real.sendURL)
    let developmentManage = Setting("APNS_DEVELOPMENT_MANAGE_URL", .endpoint, dev.manageURL)
    let productionManage = Setting("APNS_PRODUCTION_MANAGE_URL", .endpoint, real.manageURL)
    // PEM certificates trusted for these hosts instead of the system's. Read for each new connection | unset
    let apnsCAFile = Setting("APNS_CA_FILE", .readableFile)
    // ignored: connections to APNs use no proxy. `serve` and `doctor` say so | unset
    let ignoredProxy = Setting("HTTPS_PROXY", .text)
    // connections for each host, team and key; up to four times as many under load
    let apnsConnections = Setting("APNS_CONNECTIONS", .integer(1...64), "2")
    // seconds until a request to APNs counts as unanswered
    let apnsTimeout = Setting("APNS_REQUEST_TIMEOUT", .duration(0.1...300), "5")
    // seconds between two messages of one channel; after a message that waited longer than this, the next pause may be
    // half as long. `0`: no pause
    let laneInterval = Setting("LANE_INTERVAL", .number(0...3_600), "1")
    // seconds between two pushes by token to an activity whose owner switched frequent pushes off; alerts do not wait
    let infrequentInterval = Setting("INFREQUENT_INTERVAL", .number(0...3_600), "60")
    // seconds for which a message keeps its alert if neither it nor the event's `defaults` have `expiresIn`; later it
    // is sent without the alert
    let alertFreshness = Setting("ALERT_FRESH", .number(1...28_800), "900")
    // seconds that the channel of an event is kept after its end, unless an event that [takes its
    // place](states.md#a-channel) waits
    let retireAfter = Setting("RETIRE_AFTER", .number(0...2_592_000), "14400")
    // hours after which an event without `endsAt` is [closed](states.md#an-event); at least 0.01
    let closeAfter = Setting("EVENT_QUIET_HOURS", .number(0.01...8_760, of: 3_600), "48")
    // seconds between automatic reconciliations; `0`: none
    let reconcileInterval = Setting("RECONCILE_INTERVAL", .number(0...2_592_000), "3600")
    // seconds until an unmanaged channel may be deleted, from the first time that a reconciliation found it
    let reconcileGrace = Setting("RECONCILE_GRACE", .number(0...2_592_000), "600")
    // the most deletions of one reconciliation
    let deleteBudget = Setting("RECONCILE_DELETE_BUDGET", .integer(0...10_000), "100")
    // days for which history is kept ([what is kept](runbook.md#what-is-kept-and-how-long)); at least 1
    let historyMaxAge = Setting("HISTORY_DAYS", .number(1...3_650, of: 86_400), "30")
    // days without a report after which an installation is deleted; at least 1
    let deviceMaxIdle = Setting("INSTALLATION_DAYS", .number(1...3_650, of: 86_400), "180")
    // days for which audit entries, and keys after their end, are kept; at least 31
    let auditMaxAge = Setting("AUDIT_DAYS", .number(31...36_500, of: 86_400), "400")
    // seconds for which lookups are answered from memory while the database cannot confirm them
    let lookupStaleness = Setting("LOOKUP_STALE_SECONDS", .number(0...86_400), "600")
    // what this process does: `api` answers requests; `dispatch` sends messages; `reconcile` creates, retires and
    // reconciles channels
    let roles = Setting("ROLES", .list("api, dispatch, reconcile", Role.init), "api,dispatch,reconcile")
    // [webhooks](webhooks.md#allowed-addresses) |
    let webhookNetworkList = Setting("WEBHOOK_NETWORKS", .networks, "")
    let webhookHTTP = Setting("WEBHOOK_HTTP", .flag, "false")
    let webhookTimeout = Setting("WEBHOOK_TIMEOUT", .duration(0.1...120), "15")
    let webhookCAFile = Setting("WEBHOOK_CA_FILE", .readableFile)
    // seconds that the process waits for work in progress after SIGTERM. Four seconds later it ends in any case; with
    // the embedded PostgreSQL, only once that has stopped
    let drainTime = Setting("DRAIN_SECONDS", .duration(0...3_600), "10")
    // `trace`, `debug`, `info`, `notice`, `warning`, `error` or `critical`; `text` or `json` lines on standard error
    let logLevel = Setting("LOG_LEVEL", .choice(Logger.Level.self), "info")
    let logFormat = Setting("LOG_FORMAT", .choice(Configuration.LogFormat.self), "text")

    typealias Role = Configuration.Role
    private static let (dev, real) = (APNsEnvironment.development, APNsEnvironment.production)

    static let shared = SettingTable()
    static let list = Mirror(reflecting: shared).children.compactMap { $0.value as? any AnySetting }
}

extension Configuration {
    /// The location of the database.
    package var database: DatabaseSource {
        self.databaseURL.map { .url($0) } ?? .embedded(directory: self.dataDirectory)
    }

    /// Whether `HTTPS_PROXY` is set. It is ignored, and `serve` and `doctor` say so.
    package var isProxyIgnored: Bool { self.ignoredProxy != nil }

    var tls: TLS? {
        self.certificatePath.flatMap { path in self.tlsKeyPath.map { TLS(certificatePath: path, keyPath: $0) } }
    }

    /// The ports to listen on, with the names of their settings.
    var ports: [(port: Int, variable: String)] {
        (self.roles.contains(.api) ? [(self.port, "GRANDSTAND_PORT")] : [])
            + (self.operationsPort.map { [($0, "GRANDSTAND_OPERATIONS_PORT")] } ?? [])
    }

    var trustedProxies: TrustedProxies { TrustedProxies(self.proxyNetworks) }

    var tenure: ChannelTenure { ChannelTenure(retireAfter: self.retireAfter, quietAfter: self.closeAfter) }

    /// The private networks that webhooks may call in addition to the internet, and whether webhooks may use HTTP
    /// without TLS.
    var webhookNetworks: NetworkGuard {
        NetworkGuard(allowed: self.webhookNetworkList, allowsPlainHTTP: self.webhookHTTP)
    }

    /// The most broadcasts in flight in one environment. The flow-control windows of one connection hold about a
    /// hundred broadcasts (docs/internals/http2.md), and the pool opens more connections as they fill.
    var broadcastSlots: Int { 100 * apnsSettings().maximumConnections }

    /// The most pushes to devices in flight in one environment. It is half the number of broadcasts, so that a million
    /// starts leave processor time for the broadcast of a goal.
    var devicePushSlots: Int { broadcastSlots / 2 }

    var endpoints: Endpoints {
        Endpoints(
            send: [.development: self.developmentSend, .production: self.productionSend],
            manage: [.development: self.developmentManage, .production: self.productionManage])
    }

    var trustRoots: HTTP2ClientConfiguration.TrustRoots { self.apnsCAFile.map { .file($0) } ?? .system }

    func apnsSettings() -> APNsClient.Settings {
        APNsClient.Settings(
            endpoints: endpoints, trustRoots: trustRoots, connections: self.apnsConnections,
            maximumConnections: 4 * self.apnsConnections, requestTimeout: self.apnsTimeout)
    }
}
