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
        var pingAfter: Duration = .seconds(2)
        /// How long APNs may stay silent after the PING that follows `pingAfter`. Then the connection is closed.
        var pingTimeout: Duration = .seconds(2)
        /// Stores a quirk that APNs' answers show, for all replicas.
        var remember: RememberQuirk = { _, _, _, _ in }
        var metrics = ServerMetrics()
    }

    typealias RememberQuirk =
        @Sendable (AppEnvironment, Contract.QuirkName, Contract.QuirkValue, _ evidence: String) async throws -> Void

    private struct PoolKey: Hashable {
        let endpoint: Endpoint
        let credentials: Credentials
        let traffic: Traffic
    }

    /// Each has its own connections, so that the broadcasts after a goal do not wait behind a million pushes that start
    /// activities.
    private enum Traffic: String {
        case channels, devices
    }

    /// The kinds of calls, as metrics name them.
    enum Call: String {
        case broadcast, device, manage
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
        _ = (settings.metrics.replays, settings.metrics.tokenRenewals)
        quirks = QuirkLearner(remember: settings.remember)
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

    /// The pool for a request; `nil`: the client is closed.
    private func pool(_ key: PoolKey) -> ConnectionPool? {
        pools.withLock { pools in
            let pool = pools.map { $0[key] ?? makePool(key) }
            pools?[key] = pool
            return pool
        }
    }

    private func makePool(_ key: PoolKey) -> ConnectionPool {
        let labels = [key.endpoint.host, key.credentials.teamID, key.credentials.keyID, key.traffic.rawValue]
        let names = zip(["host", "team", "key", "traffic"], labels).map { ($0, $1) }
        let (wait, roundTrip) = (
            Timer(label: "grandstand_apns_queue_wait_seconds", dimensions: names, factory: settings.metrics),
            Timer(label: "grandstand_apns_round_trip_seconds", dimensions: names, factory: settings.metrics)
        )
        var configuration = HTTP2ClientConfiguration(host: key.endpoint.host, port: key.endpoint.port)
        configuration.trustRoots = settings.trustRoots
        configuration.busyPingInterval = settings.pingAfter
        configuration.pingTimeout = settings.pingTimeout
        // On a connection with provider tokens, APNs allows only one stream until it has accepted a token
        // (docs/internals/apns.md section 6).
        configuration.initialStreamLimit = 1
        configuration.onAnswer = { queued, time in
            wait.recordSeconds(queued.seconds)
            roundTrip.recordSeconds(time.seconds)
        }
        let plan = PoolPlan(target: settings.connections, bound: settings.maximumConnections)
        return ConnectionPool(configuration, plan, settings.metrics, labels, logger: logger)
    }
}

extension APNsClient {
    /// The reachability of APNs in an environment, judged by the connections so far. Nothing is sent to find out.
    ///
    /// If one host is unreachable, the result is `unreachable`, even if other hosts are reachable. Otherwise, if APNs
    /// refuses the provider tokens of a key, the result is `refused`. `notKnown`: no request has needed a connection yet,
    /// or the last connection ended normally.
    func reachability(of environment: APNsEnvironment) -> Contract.APNsState {
        let endpoints = [settings.endpoints.send, settings.endpoints.manage].map { $0[environment] }
        let states = pools.withLock { pools in
            (pools ?? [:]).filter { endpoints.contains($0.key.endpoint) }.map(\.value.reachability)
        }
        if let unreachable = states.first(where: { $0.state == .unreachable }) { return unreachable }
        if let finding = tokens.refusal(in: environment) { return .init(state: .refused, reason: finding) }
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
    /// - Parameter headers: the headers without the credentials.
    func perform(
        _ call: Call, _ method: String, _ path: String, _ headers: [HTTP2Header], body: [UInt8],
        for address: APNsAddress
    ) async -> APNsAnswer<HTTP2Response> {
        let hosts = call == .manage ? settings.endpoints.manage : settings.endpoints.send
        guard let endpoint = hosts[address.environment] else {
            return .withheld("no endpoint is configured for this environment")
        }
        let request = HTTP2Request(
            method: method, path: path, authority: endpoint.authority, headers: headers, body: body)
        let use = UsedKey(credentials: address.credentials, environment: address.environment)
        let answer = await signAndSend(request, call == .device ? .devices : .channels, at: endpoint, as: use)
        settings.metrics.countCall(call, of: address.app, answer)
        return answer
    }

    private func signAndSend(
        _ request: HTTP2Request, _ traffic: Traffic, at endpoint: Endpoint, as use: UsedKey
    ) async -> APNsAnswer<HTTP2Response> {
        let token: ProviderToken
        do { token = try tokens.token(for: use) } catch { return .withheld("\(error)") }
        if case .wait(let refusal, let seconds) = tokens.permission(for: use) {
            return .refused(.heldBack(by: refusal, seconds: seconds))
        }
        var signed = request
        signed.headers.insert(
            HTTP2Header(APNsHeader.authorization, "bearer \(token.text)", indexing: .never), at: 0)
        let clock = ContinuousClock()
        let deadline = clock.now + settings.requestTimeout
        let key = PoolKey(endpoint: endpoint, credentials: use.credentials, traffic: traffic)
        var why = "no connection to \(endpoint.authority) in time"
        var lastUsed: HTTP2ClientConnection?
        var sends = 0
        while sends < Self.maximumTries {
            let remaining = clock.now.duration(to: deadline)
            guard remaining > .zero, !Task.isCancelled else { return .unsent(why) }
            guard let pool = pool(key) else { return .unsent("the connections to APNs are closed") }
            do {
                guard let connection = pool.best(avoiding: lastUsed) else {
                    why = pool.reachability.reason ?? why
                    try await Task.sleep(for: .milliseconds(25))
                    continue
                }
                lastUsed = connection
                sends += 1
                let response = try await connection.send(signed, timeout: remaining)
                let answer = Self.read(response)
                if answer.hasAcceptedTopic {
                    connection.liftInitialLimit()
                    tokens.noteAccepted(use)
                }
                guard case .refused(var refusal) = answer, refusal.reason.concernsProviderToken else { return answer }
                refusal.retryAfter = tokens.noteRefusal(refusal.reason, of: use) ?? refusal.retryAfter
                return .refused(refusal)
            } catch HTTP2Failure.notProcessed(let reason) {
                why = reason
                settings.metrics.replays.increment(by: 1)
            } catch HTTP2Failure.unanswered(let reason) {
                return .unanswered(reason)
            } catch HTTP2Failure.cancelled {
                return .unanswered("the call was cancelled")
            } catch is CancellationError {
                return .unsent("the call was cancelled")
            } catch {
                return .unanswered("\(error)")
            }
        }
        return .unsent(why)
    }

    /// The most times that one call is sent. After so many failed attempts, another attempt is unlikely to succeed.
    private static let maximumTries = 10

    /// A status from 200 to 299 is success. Any other is a refusal with its reason in the JSON body.
    static func read(_ response: HTTP2Response) -> APNsAnswer<HTTP2Response> {
        let requestID = response[header: APNsHeader.requestID] ?? response[header: APNsHeader.id]
        if (200..<300).contains(response.status) {
            return .accepted(
                response, APNsReceipt(requestID: requestID, uniqueID: response[header: APNsHeader.uniqueID]))
        }
        let body = try? JSONValue(parsing: response.body)
        let reason = APNsReason(json: body) ?? APNsReason(rawValue: "HTTP\(response.status)")
        // The `timestamp` of a 410 answer, which Apple documents as milliseconds since 1970.
        var since: Date?
        if case .number(let text)? = body?["timestamp"]?.kind, let milliseconds = Double(text) {
            since = Date(timeIntervalSince1970: milliseconds / 1_000)
        }
        return .refused(
            APNsRefusal(
                status: response.status, reason: reason, requestID: requestID,
                retryAfter: response[header: APNsHeader.retryAfter].flatMap { Int($0) }, since: since))
    }
}
