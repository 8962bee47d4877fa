package import CoreMetrics
package import FoundationEssentials
package import Grandstand
package import HTTP2
package import Logging
internal import Synchronization

/// APNs over HTTP/2: provider tokens, connections for each endpoint, team and key, and calls that end in an answer.
package final class APNsClient: Sendable {
    /// The parts that a client is made with.
    package struct Settings: Sendable {
        package var endpoints: Endpoints
        package var trustRoots: HTTP2ClientConfiguration.TrustRoots = .system
        /// The way to APNs goes through these; the default is straight.
        package var proxies = ProxySettings()
        /// Connections for each endpoint, team and key.
        package var connections = 2
        /// The most of them under load.
        package var maximumConnections = 8
        /// Until an unanswered request counts as unanswered.
        package var requestTimeout: Duration = .seconds(5)
        /// From the look-up of APNs' address to its first SETTINGS.
        package var connectTimeout: Duration = .seconds(10)
        /// Silence after which a PING asks whether APNs is still there, while answers are awaited.
        package var overdueInterval: Duration = .seconds(2)
        /// Silence after such a PING that ends the connection.
        package var pingTimeout: Duration = .seconds(2)
        /// The store in which replicas share provider tokens; `nil`: every process makes its own.
        package var tokenStore: (any ProviderTokenStore)?
        /// The store in which replicas tell each other which keys APNs refuses; `nil`: every process for itself.
        package var refusalStore: (any KeyRefusalStore)?
        /// The metrics backend; `nil`: the process's, `MetricsSystem`.
        package var metrics: (any MetricsFactory)?

        package init(endpoints: Endpoints) { self.endpoints = endpoints }
    }

    /// The traffic of connections. Each kind has its own, so that a goal's broadcasts do not stand in line behind a
    /// million starts.
    enum Traffic: String, Hashable {
        case channels
        case devices
    }

    private struct PoolKey: Hashable {
        let endpoint: Endpoint
        let credentials: Credentials
        let traffic: Traffic
    }

    let settings: Settings
    let keys: KeyRing
    let tokens: ProviderTokens
    let standings: TokenStandings
    let metrics: CallMetrics
    let logger: Logger
    private let factory: any MetricsFactory
    /// `nil` once closed.
    private let pools = Mutex<[PoolKey: ConnectionPool]?>([:])

    package init(settings: Settings, keys: KeyRing, now: @escaping @Sendable () -> Date, logger: Logger) {
        self.settings = settings
        self.keys = keys
        self.logger = logger
        factory = settings.metrics ?? MetricsSystem.factory
        metrics = CallMetrics(factory: factory)
        standings = TokenStandings(keys: keys, store: settings.refusalStore, now: now, logger: logger)
        tokens = ProviderTokens(keys: keys, store: settings.tokenStore, metrics: metrics, logger: logger, now: now)
    }

    /// Lets requests in flight finish and closes every connection; later calls are unsent.
    package func close() async {
        let open = pools.withLock { pools in
            defer { pools = nil }
            return pools.map { Array($0.values) } ?? []
        }
        await withTaskGroup(of: Void.self) { group in
            for pool in open { group.addTask { await pool.close() } }
        }
    }

    /// Reads every key file anew before the next call, whatever its date. Files that change are noticed without it.
    package func reloadKeys() { tokens.checkFiles() }

    /// Writes the numbers that stand rather than happen: connections, streams in use, token ages; and looks whether the
    /// file of a refused key was replaced. To be called before each scrape, or every few seconds.
    package func recordGauges() {
        for pool in pools.withLock({ Array(($0 ?? [:]).values) }) { pool.recordGauges() }
        tokens.recordGauges()
        standings.checkKeys()
    }

    /// The pools there are for some endpoints, whatever their credentials.
    func pools(of endpoints: [Endpoint]) -> [ConnectionPool] {
        pools.withLock { pools in (pools ?? [:]).filter { endpoints.contains($0.key.endpoint) }.map(\.value) }
    }

    func pool(
        _ endpoint: Endpoint, _ credentials: Credentials, for traffic: Traffic
    ) throws(ConnectionPool.Closed) -> ConnectionPool {
        let pool = pools.withLock { pools in
            guard pools != nil else { return nil as ConnectionPool? }
            let key = PoolKey(endpoint: endpoint, credentials: credentials, traffic: traffic)
            if let pool = pools?[key] { return pool }
            let pool = makePool(endpoint, credentials, traffic)
            pools?[key] = pool
            return pool
        }
        guard let pool else { throw ConnectionPool.Closed() }
        return pool
    }

    private func makePool(
        _ endpoint: Endpoint, _ credentials: Credentials, _ traffic: Traffic
    ) -> ConnectionPool {
        let metrics = PoolMetrics(
            host: endpoint.host, team: credentials.teamID, key: credentials.keyID, traffic: traffic.rawValue,
            factory: factory)
        var configuration = HTTP2ClientConfiguration(host: endpoint.host, port: endpoint.port)
        configuration.trustRoots = settings.trustRoots
        configuration.proxy = settings.proxies.proxy(for: endpoint.host)
        configuration.connectTimeout = settings.connectTimeout
        configuration.overdueInterval = settings.overdueInterval
        configuration.pingTimeout = settings.pingTimeout
        // With provider tokens APNs allows one stream until a token was accepted (docs/internals/apns.md section 6).
        configuration.initialConcurrency = 1
        configuration.onAnswer = { metrics.answered($0) }
        return ConnectionPool(
            configuration: configuration,
            plan: PoolPlan(target: settings.connections, bound: settings.maximumConnections), metrics: metrics,
            logger: logger)
    }
}
