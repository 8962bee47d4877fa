internal import APNsWire

/// The state of APNs, and its answers to requests. It is a pure value without sockets and clocks. Times are in seconds
/// since 1970.
struct SimulatorState: Sendable {
    /// The variants of APNs' behaviour; they may change at any time.
    var quirks = Quirks()
    /// The most channels of one app in one environment, unless `channelLimits` has another number.
    let channelLimit: Int
    var channelLimits: [AppKey: Int] = [:]
    var tokens: TokenJudge
    var apps: [AppKey: SimulatedApp] = [:]
    /// The team that created an app's first channel in an environment. The simulator has no developer portal, and
    /// therefore treats this team as the owner of the app in this environment. Each environment has its own owner,
    /// because an app may be tested with another team than the one that publishes it.
    var owners: [AppKey: String] = [:]
    /// The apps without the Broadcast capability, in lower case.
    var capabilityOff: Set<String> = []
    var connections: [Int: ConnectionState] = [:]
    var devices = Devices()
    /// Rate limits that clients do not know.
    var buckets = Buckets()
    /// Broadcasts that a fault postpones until the next broadcast on the same channel.
    var postponed: [ChannelKey: [[UInt8]]] = [:]
    var channelIDMaker = ChannelIDMaker()
    var random: SeededRandom

    struct AppKey: Hashable, Sendable {
        /// The bundle ID in lower case.
        let bundle: String
        let environment: APNsEnvironment

        init(_ bundleID: String, _ environment: APNsEnvironment) {
            self.bundle = bundleID.lowercased()
            self.environment = environment
        }
    }

    struct ChannelKey: Hashable, Sendable {
        var app: AppKey
        var id: String
    }

    /// - Parameters:
    ///   - keys: the provider keys whose tokens are accepted.
    ///   - channelLimit: the most channels of one app in one environment.
    ///   - seed: makes message IDs and the random part of channel IDs reproducible.
    init(keys: [ProviderKey] = [], channelLimit: Int = APNsLimits.channels, seed: UInt64 = 0) {
        self.channelLimit = channelLimit
        tokens = TokenJudge(keys: keys)
        random = SeededRandom(seed: seed)
    }

    /// Answers one request.
    ///
    /// APNs' order of checks is not documented. The simulator's fixed order is:
    ///
    /// 1. path, including one that the named host does not serve: 404 `BadPath`
    /// 2. method on a known path: 405 `MethodNotAllowed` (before the token, as observed)
    /// 3. token: 403 `MissingProviderToken`, `InvalidProviderToken`, `ExpiredProviderToken`
    /// 4. the key's environment: 403 `BadEnvironmentKeyInToken`
    /// 5. the connection: 403 `UnrelatedKeyIdInToken`, 429 `TooManyProviderTokenUpdates`
    /// 6. a device push goes on with its own checks: see `push`
    /// 7. a `.push-type` suffix on the bundle ID: 400 `TopicDisallowed`
    /// 8. a topic outside the key's scope, or an app whose first channel in this environment another team made: 403
    ///    `TopicMismatch`
    /// 9. capitals on a management path, if the quirk `capitals` refuses them: 403 `TopicMismatch`
    /// 10. capability: 400 `BroadcastFeatureNotEnabled`
    /// 11. `apns-request-id`, and `apns-id` if it is sent: 400 `BadMessageId`
    /// 12. the operation's own checks. For a broadcast: the channel, then its other headers, then the body. For a read
    ///     or a deletion: the channel. For a creation: the body, then the number of channels.
    /// 13. the buckets, for a broadcast or device push that passes all other checks: 429 `TooManyRequests`
    ///
    /// Every answer has `apns-request-id`, or `apns-id` on a device's path: the request's own if it is well-formed,
    /// otherwise a new one.
    ///
    /// - Parameter postponing: whether to withhold a broadcast from devices until the next broadcast of its channel.
    mutating func handle(_ request: SimulatorRequest, postponing: Bool = false, now: Double) -> SimulatorAnswer {
        var operation: Route.Operation?
        var tokenAccepted = false
        var answer: SimulatorAnswer
        do throws(Refusal) {
            let route = try Route(method: request.method, path: request.path)
            operation = route.operation
            guard request.service.serves(route.operation) else { throw Refusal(.badPath) }
            let token = try authenticate(request, now: now)
            tokenAccepted = true
            let app = AppKey(route.identifier, request.environment)
            if route.operation != .device {
                try checkTopic(of: route, app, key: token.key)
                for name in [APNsHeader.requestID, APNsHeader.id] where !isGood(request[header: name]) {
                    throw Refusal(.badMessageId)
                }
            }
            switch route.operation {
            case .create: answer = try createChannel(request, in: app, team: token.teamID, now: now)
            case .read: answer = try read(request, in: app)
            case .delete: answer = try delete(request, in: app)
            case .list: answer = list(in: app)
            case .broadcast: answer = try broadcast(request, in: app, postponing: postponing, now: now)
            case .device: answer = try push(request, to: route.identifier, by: token.key, now: now)
            }
        } catch {
            answer = .refusal(error, spelled: error.reason.rawValue)
        }
        answer.operation = operation
        answer.tokenAccepted = tokenAccepted
        addID(to: &answer, for: request)
        connections[request.connectionID]?.record(&answer)
        return answer
    }

    /// Adds a connection. Its requests have this number in `SimulatorRequest.connectionID`.
    mutating func opened(connection: Int) { connections[connection] = ConnectionState() }

    mutating func closed(connection: Int) {
        connections[connection] = nil
        buckets.forget(connection: connection)
    }

    /// Adds the ID header that every answer has: the request's own if it is well-formed, otherwise a new one.
    mutating func addID(to answer: inout SimulatorAnswer, for request: SimulatorRequest) {
        let name = Self.idHeader(of: request)
        let id = request[header: name].flatMap { isGood($0) ? $0 : nil } ?? RequestID.make(using: &random)
        answer.headers.insert(.init(name, id), at: 0)
    }

    /// The name of the ID header: `apns-id` for device pushes, even refused ones (docs/internals/apns.md 3.1),
    /// `apns-request-id` for everything else.
    static func idHeader(of request: SimulatorRequest) -> String {
        Route.isDevicePath(request.path) ? APNsHeader.id : APNsHeader.requestID
    }

    func isGood(_ requestID: String?) -> Bool {
        requestID.map { RequestID.isCanonical($0) } ?? true
    }

    private mutating func authenticate(_ request: SimulatorRequest, now: Double) throws(Refusal) -> ProviderToken {
        let token = try tokens.judge(authorization: request[header: APNsHeader.authorization], now: now)
        if let environment = token.key.scope.environment, environment != request.environment {
            throw Refusal(.badEnvironmentKeyInToken)
        }
        try connections[request.connectionID]?.admit(token, now: now)
        return token
    }

    private func checkTopic(of route: Route, _ app: AppKey, key: ProviderKey) throws(Refusal) {
        if route.hasTopicSuffix { throw Refusal(.topicDisallowed) }
        if !key.scope.allows(topic: app.bundle) { throw Refusal(.topicMismatch) }
        if let owner = owners[app], owner != key.teamID { throw Refusal(.topicMismatch) }
        if quirks.capitals == .refused, route.operation.isManagement, route.hasCapitals {
            throw Refusal(.topicMismatch)
        }
        if capabilityOff.contains(app.bundle) { throw Refusal(.broadcastFeatureNotEnabled) }
    }
}
