internal import APNsWire
package import FoundationEssentials
internal import Grandstand
package import HTTP2
package import Logging
internal import Synchronization

/// APNs over HTTP/2: provider tokens, connections for each endpoint, team and key, and calls that end in an answer.
package final class APNsClient: Sendable {
    package struct Settings: Sendable {
        package var endpoints: Endpoints
        package var trustRoots: HTTP2ClientConfiguration.TrustRoots = .system
        /// Connections for each endpoint, team and key.
        package var connections = 2
        /// Until an unanswered request counts as unanswered.
        package var requestTimeout: Duration = .seconds(5)

        package init(endpoints: Endpoints) { self.endpoints = endpoints }
    }

    private struct PoolKey: Hashable {
        let endpoint: Endpoint
        let credentials: Credentials
    }

    let settings: Settings
    let keys: KeyRing
    private let tokens: ProviderTokens
    private let logger: Logger
    /// `nil` once closed.
    private let pools = Mutex<[PoolKey: ConnectionPool]?>([:])

    package init(settings: Settings, keys: KeyRing, now: @escaping @Sendable () -> Date, logger: Logger) {
        self.settings = settings
        self.keys = keys
        tokens = ProviderTokens(keys: keys, now: now)
        self.logger = logger
    }

    /// Lets requests in flight finish and closes every connection; what is called later is unsent.
    package func close() async {
        let open = pools.withLock { pools in
            defer { pools = nil }
            return pools.map { Array($0.values) } ?? []
        }
        await withTaskGroup(of: Void.self) { group in
            for pool in open { group.addTask { await pool.close() } }
        }
    }

    /// What a call is, apart from who makes it.
    struct Call: Sendable {
        var method: String
        var path: String
        var headers: [HTTP2Header] = []
        var body: [UInt8] = []
    }

    /// Makes a call within the request timeout. What APNs never processed goes again on another connection; what it
    /// may have processed comes back as `unanswered`; a token it calls expired is renewed once.
    func perform(_ call: Call, at endpoint: Endpoint, as credentials: Credentials) async -> APNsAnswer<HTTP2Response> {
        let clock = ContinuousClock()
        let deadline = clock.now + settings.requestTimeout
        var why = "no connection to \(endpoint.authority) in time"
        var renewed = false
        for _ in 0..<Self.maximumSends {
            let remaining = clock.now.duration(to: deadline)
            guard remaining > .zero, !Task.isCancelled else { return .unsent(why) }
            do {
                let token = try tokens.token(for: credentials)
                let connection = try await within(remaining) { try await self.pool(endpoint, credentials).connection() }
                let response = try await connection.send(
                    request(call, endpoint, token), timeout: clock.now.duration(to: deadline))
                let answer = Self.read(response)
                if case .accepted = answer { connection.streamsProven() }
                if case .refused(let refusal) = answer, refusal.reason == .expiredProviderToken, !renewed {
                    renewed = true
                    if try tokens.replaceExpired(token, of: credentials) { continue }
                    logger.error("APNs calls a fresh provider token expired: check this machine's clock")
                }
                return answer
            } catch HTTP2Failure.notProcessed(let reason) {
                why = reason
            } catch HTTP2Failure.unanswered(let reason) {
                return .unanswered(reason)
            } catch HTTP2Failure.cancelled {
                return .unanswered("the call was cancelled")
            } catch let fault as SigningKey.Fault {
                return .unsent(fault.description)
            } catch {
                return .unsent("\(error)")
            }
        }
        return .unsent(why)
    }

    /// How often one call is put on the wire at most: connections that keep refusing it will not do better.
    private static let maximumSends = 5

    private func request(_ call: Call, _ endpoint: Endpoint, _ token: ProviderToken) -> HTTP2Request {
        HTTP2Request(
            method: call.method, path: call.path, authority: endpoint.authority,
            headers: [HTTP2Header(APNsHeader.authorization, "bearer \(token.text)", indexing: .never)] + call.headers,
            body: call.body)
    }

    private func pool(
        _ endpoint: Endpoint, _ credentials: Credentials
    ) throws(ConnectionPool.Closed) -> ConnectionPool {
        try pools.withLock { pools throws(ConnectionPool.Closed) in
            guard var open = pools else { throw ConnectionPool.Closed() }
            let key = PoolKey(endpoint: endpoint, credentials: credentials)
            if let pool = open[key] { return pool }
            var configuration = HTTP2ClientConfiguration(host: endpoint.host, port: endpoint.port)
            configuration.trustRoots = settings.trustRoots
            // With provider tokens APNs allows one stream until a token was accepted (apns-contract section 6).
            configuration.initialConcurrency = 1
            let pool = ConnectionPool(
                configuration: configuration, maximum: settings.connections, logger: logger)
            open[key] = pool
            pools = open
            return pool
        }
    }

    /// Status 200–299 is accepted; anything else is a refusal whose reason stands in the JSON body.
    private static func read(_ response: HTTP2Response) -> APNsAnswer<HTTP2Response> {
        let requestID = response[header: APNsHeader.requestID] ?? response[header: APNsHeader.id]
        if (200..<300).contains(response.status) {
            return .accepted(
                response, APNsReceipt(requestID: requestID, uniqueID: response[header: APNsHeader.uniqueID]))
        }
        return .refused(
            APNsRefusal(
                status: response.status, reason: reason(of: response), requestID: requestID,
                retryAfter: response[header: APNsHeader.retryAfter].flatMap { Int($0) }))
    }

    private static func reason(of response: HTTP2Response) -> APNsReason {
        if let body = try? JSONValue(parsing: response.body), case .object(let members) = body.kind,
            let reason = members.first(where: { $0.name == "reason" }), case .string(let text) = reason.value.kind,
            !text.isEmpty
        {
            return APNsReason(rawValue: String(text.prefix(200)))
        }
        return APNsReason(rawValue: "HTTP\(response.status)")
    }

    /// Runs `body`, or gives up on it after `limit`: opening a connection has a deadline of its own, a call may have less.
    private func within<Value: Sendable>(
        _ limit: Duration, _ body: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        try await withThrowingTaskGroup(of: Value.self) { group in
            group.addTask(operation: body)
            group.addTask {
                try await Task.sleep(for: limit)
                throw HTTP2Failure.notProcessed("no connection within the request timeout")
            }
            defer { group.cancelAll() }
            guard let value = try await group.next() else { throw HTTP2Failure.cancelled }
            return value
        }
    }
}
