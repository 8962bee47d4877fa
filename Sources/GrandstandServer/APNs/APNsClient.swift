package import APNsWire
internal import CoreMetrics
package import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
package import HTTP2
internal import JSON
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
        /// If requests wait for answers and APNs sends nothing for this long, the client sends a PING.
        var overdueInterval: Duration = .seconds(2)
        /// How long APNs may stay silent after the PING that follows `overdueInterval`. Then the connection is closed.
        var pingTimeout: Duration = .seconds(2)
        /// Stores a quirk that APNs' answers show, for all replicas; `nil`: none is learned.
        var remember: RememberQuirk?
        var metrics = ServerMetrics()
    }

    typealias RememberQuirk = @Sendable (Contract.Quirk, AppEnvironment) async throws -> Void

    private struct PoolKey: Hashable {
        let endpoint: Endpoint
        let credentials: Credentials
        /// `channels` or `devices`. Each has its own connections, so that the broadcasts after a goal do not wait behind
        /// a million pushes that start activities.
        let traffic: String
    }

    let settings: Settings
    let keys: KeyRing
    let tokens: ProviderTokens
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

    /// - Parameter traffic: `channels` or `devices`.
    func pool(
        _ endpoint: Endpoint, _ credentials: Credentials, for traffic: String
    ) throws(ConnectionPool.Unavailable) -> ConnectionPool {
        let key = PoolKey(endpoint: endpoint, credentials: credentials, traffic: traffic)
        return try pools.withLock { pools throws(ConnectionPool.Unavailable) in
            guard let open = pools else { throw .closed }
            let pool = open[key] ?? makePool(key)
            pools?[key] = pool
            return pool
        }
    }

    private func makePool(_ key: PoolKey) -> ConnectionPool {
        let labels = [
            ("host", key.endpoint.host), ("team", key.credentials.teamID), ("key", key.credentials.keyID),
            ("traffic", key.traffic),
        ]
        func timer(_ name: String) -> CoreMetrics.Timer {
            Timer(label: name, dimensions: labels, factory: settings.metrics)
        }
        let (wait, roundTrip) = (
            timer("grandstand_apns_queue_wait_seconds"), timer("grandstand_apns_round_trip_seconds")
        )
        var configuration = HTTP2ClientConfiguration(host: key.endpoint.host, port: key.endpoint.port)
        configuration.trustRoots = settings.trustRoots
        configuration.overdueInterval = settings.overdueInterval
        configuration.pingTimeout = settings.pingTimeout
        // On a connection with provider tokens, APNs allows only one stream until it has accepted a token
        // (docs/internals/apns.md section 6).
        configuration.initialConcurrency = 1
        configuration.onAnswer = { queued, time in
            wait.recordSeconds(queued.seconds)
            roundTrip.recordSeconds(time.seconds)
        }
        return ConnectionPool(
            configuration, PoolPlan(target: settings.connections, bound: settings.maximumConnections), settings.metrics,
            labels.map(\.1), logger: logger)
    }
}

extension APNsClient {
    /// The reachability of APNs in an environment, judged by the connections so far. Nothing is sent to find out.
    ///
    /// If one host is unreachable, the result is `unreachable`, even if other hosts are reachable. Otherwise, if APNs
    /// refuses the provider tokens of a key, the result is `refused`. `notKnown`: no request has needed a connection yet,
    /// or the last connection ended normally.
    func reachability(of environment: APNsEnvironment) -> Contract.APNsState {
        let endpoints = [settings.endpoints.send[environment], settings.endpoints.manage[environment]].compactMap(
            \.self)
        let states = pools.withLock { pools in
            (pools ?? [:]).filter { endpoints.contains($0.key.endpoint) }.map(\.value.reachability)
        }
        if let unreachable = states.first(where: { $0.state == .unreachable }) { return unreachable }
        let refused = tokens.own(usedWithin: 3_600).filter { $0.key.environment == environment }
        if let first = refused.min(by: { $0.value.since < $1.value.since }) {
            return .init(state: .refused, reason: first.value.finding(of: first.key.credentials))
        }
        return states.first { $0.state == .reachable } ?? .init(state: .notKnown)
    }
}

/// The destination of one kind of call in one environment.
package struct Endpoint: Sendable, Hashable {
    package let host: String
    package let port: Int

    /// The `:authority` of requests. The port 443 is left out.
    let authority: String

    /// Parses a base URL such as `https://api.push.apple.com:443`. The port is part of the endpoint, because Apple's
    /// management ports differ by environment (docs/internals/apns.md C19); the default is 443.
    ///
    /// - Returns: `nil` for other text, including a URL with a path.
    package init?(url text: String) {
        guard let url = WebhookURL(rawValue: text), url.scheme == .https,
            ["", "/"].contains(text.dropFirst("https://".count).drop { $0 != "/" && $0 != "?" })
        else { return nil }
        (host, port, authority) = (url.host, url.port, url.authority)
    }
}

/// The endpoints for sending and for management in both environments.
package struct Endpoints: Sendable, Hashable {
    package var send: [APNsEnvironment: Endpoint]
    package var manage: [APNsEnvironment: Endpoint]
}

extension APNsClient {
    /// Makes a call within the request timeout. A request that APNs never processed is repeated on another connection.
    /// A request that APNs may have processed returns `unanswered`. While APNs refuses the key's tokens, only one probe
    /// every few seconds is sent.
    ///
    /// - Parameters:
    ///   - kind: for metrics: `broadcast`, `device` or `manage`.
    ///   - headers: the headers without the credentials.
    func perform(
        _ kind: String, _ method: String, _ path: String, _ headers: [HTTP2Header], body: [UInt8],
        for address: APNsAddress
    ) async -> APNsAnswer<HTTP2Response> {
        let hosts = kind == "manage" ? settings.endpoints.manage : settings.endpoints.send
        guard let endpoint = hosts[address.environment] else {
            return .withheld("no endpoint is configured for this environment")
        }
        let request = HTTP2Request(
            method: method, path: path, authority: endpoint.authority, headers: headers, body: body)
        let use = KeyUse(credentials: address.credentials, environment: address.environment)
        let answer = await attempt(request, kind == "device" ? "devices" : "channels", at: endpoint, as: use)
        settings.metrics.ended(kind, answer)
        return answer
    }

    private func attempt(
        _ request: HTTP2Request, _ traffic: String, at endpoint: Endpoint, as use: KeyUse
    ) async -> APNsAnswer<HTTP2Response> {
        let clock = ContinuousClock()
        let deadline = clock.now + settings.requestTimeout
        var why = "no connection to \(endpoint.authority) in time"
        var isProbe = false
        var lastUsed: HTTP2ClientConnection?
        var sends = 0
        while sends < Self.maximumSends {
            let remaining = clock.now.duration(to: deadline)
            guard remaining > .zero, !Task.isCancelled else { return .unsent(why) }
            do {
                let token = try tokens.token(for: use)
                if !isProbe {
                    switch tokens.turn(of: use) {
                    case .send: break
                    case .probe: isProbe = true
                    case .wait(let refusal, let seconds): return .refused(.heldBack(by: refusal, seconds: seconds))
                    }
                }
                let pool = try pool(endpoint, use.credentials, for: traffic)
                guard let connection = pool.ready(avoiding: lastUsed) else {
                    try await pool.wait(until: deadline)
                    continue
                }
                lastUsed = connection
                sends += 1
                var signed = request
                signed.headers.insert(
                    HTTP2Header(APNsHeader.authorization, "bearer \(token.text)", indexing: .never), at: 0)
                let response = try await connection.send(signed, timeout: remaining)
                let answer = Self.read(response)
                if answer.hasAcceptedTopic {
                    connection.streamsProven()
                    tokens.accepted(token, of: use)
                }
                guard case .refused(var refusal) = answer, refusal.reason.concernsProviderToken else { return answer }
                refusal.retryAfter = tokens.refused(refusal.reason, token, of: use) ?? refusal.retryAfter
                return .refused(refusal)
            } catch HTTP2Failure.notProcessed(let reason) {
                why = reason
                settings.metrics.replays.increment(by: 1)
            } catch HTTP2Failure.unanswered(let reason) {
                return .unanswered(reason)
            } catch HTTP2Failure.cancelled {
                return .unanswered("the call was cancelled")
            } catch let fault as SigningKey.Fault {
                return .withheld(fault.description)
            } catch {
                return .unsent("\(error)")
            }
        }
        return .unsent(why)
    }

    /// The most times that one call is sent. After so many failed attempts, another attempt is unlikely to succeed.
    private static let maximumSends = 10

    /// A status from 200 to 299 is success. Any other is a refusal with its reason in the JSON body.
    static func read(_ response: HTTP2Response) -> APNsAnswer<HTTP2Response> {
        let requestID = response[header: APNsHeader.requestID] ?? response[header: APNsHeader.id]
        if (200..<300).contains(response.status) {
            return .accepted(
                response, APNsReceipt(requestID: requestID, uniqueID: response[header: APNsHeader.uniqueID]))
        }
        let body = try? JSONValue(parsing: response.body)
        let reason = body?["reason"]?.string.flatMap { $0.isEmpty ? nil : String($0.prefix(200)) }
        // The `timestamp` of a 410 answer, which Apple documents as milliseconds since 1970.
        var since: Date?
        if case .number(let text)? = body?["timestamp"]?.kind, let milliseconds = Double(text) {
            since = Date(timeIntervalSince1970: milliseconds / 1_000)
        }
        return .refused(
            APNsRefusal(
                status: response.status, reason: APNsReason(rawValue: reason ?? "HTTP\(response.status)"),
                requestID: requestID, retryAfter: response[header: APNsHeader.retryAfter].flatMap { Int($0) },
                since: since))
    }
}
