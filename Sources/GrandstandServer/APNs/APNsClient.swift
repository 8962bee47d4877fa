package import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
package import HTTP2
package import Logging
internal import Synchronization

/// A client of APNs over HTTP/2. It manages provider tokens, and connections for each endpoint, team and key.
package final class APNsClient: Sendable {
    /// The settings of a client.
    package struct Settings: Sendable {
        package var endpoints: Endpoints
        package var trustRoots: HTTP2ClientConfiguration.TrustRoots = .system
        /// The normal number of connections for each endpoint, team and key.
        package var connections = 2
        /// The most connections for each endpoint, team, key and kind of traffic, under load.
        package var maximumConnections = 8
        /// The time after which a request counts as unanswered.
        var requestTimeout: Duration = .seconds(5)
        /// The time from the look-up of APNs' address to the first SETTINGS.
        var connectTimeout: Duration = .seconds(10)
        /// If requests wait for answers and APNs sends nothing for this long, the client sends a PING.
        var overdueInterval: Duration = .seconds(2)
        /// How long APNs may stay silent after the PING that follows `overdueInterval`. Then the connection is closed.
        var pingTimeout: Duration = .seconds(2)
        /// Stores a quirk that APNs' answers show, for all replicas; `nil`: none is learned.
        var remember: RememberQuirk?
        var metrics = ServerMetrics()

        package init(endpoints: Endpoints) { self.endpoints = endpoints }
    }

    typealias RememberQuirk = @Sendable (Contract.Quirk, AppEnvironment) async throws -> Void

    /// The kind of traffic. Each kind has its own connections, so that the broadcasts after a goal do not wait behind a
    /// million pushes that start activities.
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
    let quirks: QuirkLearner
    let logger: Logger
    /// The pools; `nil` after the client was closed.
    private let pools = Mutex<[PoolKey: ConnectionPool]?>([:])

    package init(settings: Settings, keys: KeyRing, now: @escaping @Sendable () -> Date, logger: Logger) {
        self.settings = settings
        self.keys = keys
        self.logger = logger
        // A series that begins with 1 shows no increase.
        _ = (settings.metrics.replays, settings.metrics.renewals)
        standings = TokenStandings(keys: keys, now: now, logger: logger)
        quirks = QuirkLearner(remember: settings.remember, now: now, logger: logger)
        tokens = ProviderTokens(keys: keys, metrics: settings.metrics, logger: logger, now: now)
    }

    /// Lets requests in flight finish and closes every connection. Later calls return `unsent`.
    package func close() async {
        let open = pools.withLock { pools in
            defer { pools = nil }
            return pools.map { Array($0.values) } ?? []
        }
        await withTaskGroup(of: Void.self) { group in
            for pool in open { group.addTask { await pool.close() } }
        }
    }

    /// Updates the gauges: connections, streams in use, token ages. Call this function before each scrape, or every few
    /// seconds.
    func recordGauges() {
        for pool in pools.withLock({ Array(($0 ?? [:]).values) }) { pool.recordGauges() }
        tokens.recordGauges()
    }

    /// The existing pools of some endpoints, for all credentials.
    func pools(of endpoints: [Endpoint]) -> [ConnectionPool] {
        pools.withLock { pools in (pools ?? [:]).filter { endpoints.contains($0.key.endpoint) }.map(\.value) }
    }

    func pool(
        _ endpoint: Endpoint, _ credentials: Credentials, for traffic: Traffic
    ) throws(ConnectionPool.Unavailable) -> ConnectionPool {
        let pool = pools.withLock { pools in
            guard pools != nil else { return nil as ConnectionPool? }
            let key = PoolKey(endpoint: endpoint, credentials: credentials, traffic: traffic)
            if let pool = pools?[key] { return pool }
            let pool = makePool(endpoint, credentials, traffic)
            pools?[key] = pool
            return pool
        }
        guard let pool else { throw .closed }
        return pool
    }

    private func makePool(
        _ endpoint: Endpoint, _ credentials: Credentials, _ traffic: Traffic
    ) -> ConnectionPool {
        let metrics = PoolMetrics(
            host: endpoint.host, team: credentials.teamID, key: credentials.keyID, traffic: traffic.rawValue,
            settings.metrics)
        var configuration = HTTP2ClientConfiguration(host: endpoint.host, port: endpoint.port)
        configuration.trustRoots = settings.trustRoots
        configuration.connectTimeout = settings.connectTimeout
        configuration.overdueInterval = settings.overdueInterval
        configuration.pingTimeout = settings.pingTimeout
        // On a connection with provider tokens, APNs allows only one stream until it has accepted a token
        // (docs/internals/apns.md section 6).
        configuration.initialConcurrency = 1
        configuration.onAnswer = { metrics.answered(queued: $0, roundTrip: $1) }
        return ConnectionPool(
            configuration: configuration,
            plan: PoolPlan(target: settings.connections, bound: settings.maximumConnections), metrics: metrics,
            logger: logger)
    }
}
