internal import APNsWire
package import FoundationEssentials

/// All APNs knows of its channels, and what it says to a request: a pure value, without sockets and clocks.
package struct SimulatorState: Sendable {
    let capitals: CapitalsRule
    let channelLimit: Int
    var tokens: TokenJudge
    var apps: [AppKey: SimulatedApp] = [:]
    /// The team that made an app's first channel in an environment: the simulator has no developer portal to look it
    /// up in. Environments are apart, since an app may be tested under another team than it is sold by.
    var owners: [AppKey: String] = [:]
    /// Apps (lowercase) without the Broadcast capability.
    var capabilityOff: Set<String> = []
    var channelIDs = ChannelIDs()
    var random: SeededRandom

    struct AppKey: Hashable, Sendable {
        var name: String
        var environment: APNsEnvironment
    }

    /// - Parameters:
    ///   - keys: the provider keys whose tokens are accepted.
    ///   - channelLimit: channels of one app in one environment.
    ///   - seed: ids and the tails of channel IDs follow from it.
    package init(
        keys: [ProviderKey], capitals: CapitalsRule = .refused, channelLimit: Int = APNsLimits.channels,
        seed: UInt64 = 0
    ) {
        self.capitals = capitals
        self.channelLimit = channelLimit
        tokens = TokenJudge(keys: keys)
        random = SeededRandom(seed: seed)
    }

    /// Answers one request.
    ///
    /// APNs' order of checks is undocumented. This is the simulator's, and it is fixed:
    ///
    /// 1. path: 404 `BadPath`
    /// 2. method on a known path: 405 `MethodNotAllowed` (before the token, as observed)
    /// 3. token: 403 `MissingProviderToken`, `InvalidProviderToken`, `ExpiredProviderToken`
    /// 4. a `.push-type` suffix on the bundle ID: 400 `TopicDisallowed`
    /// 5. another team than the token's made the app's first channel in this environment: 403 `TopicMismatch`
    /// 6. capitals on a management path, when refused: 403 `TopicMismatch`
    /// 7. capability: 400 `BroadcastFeatureNotEnabled`
    /// 8. `apns-request-id`: 400 `BadMessageId`
    /// 9. the operation's other headers, then the channel, then the body: see each operation
    ///
    /// Every answer carries `apns-request-id`: the request's own if it is well formed, else a new one.
    package mutating func handle(_ request: SimulatorRequest, now: Date) -> SimulatorAnswer {
        let requestID = request[header: APNsHeader.requestID]
        let malformed = requestID.map { !RequestID.isCanonical($0) } ?? false
        var tokenAccepted = false
        var answer: SimulatorAnswer
        do throws(Refusal) {
            let route = try Route(method: request.method, path: request.path)
            let token = try tokens.judge(authorization: request[header: APNsHeader.authorization], now: now)
            tokenAccepted = true
            let app = AppKey(name: route.appName, environment: request.environment)
            try checkTopic(of: route, app, team: token.teamID)
            if malformed { throw Refusal(.badMessageId) }
            answer = try perform(route.operation, request, in: app, team: token.teamID, now: now)
        } catch {
            answer = .refusal(error.reason)
        }
        answer.tokenAccepted = tokenAccepted
        complete(&answer, requestID: malformed ? nil : requestID)
        return answer
    }

    /// Gives an answer the id every answer has: `requestID`, or a new one.
    mutating func complete(_ answer: inout SimulatorAnswer, requestID: String?) {
        let id = requestID ?? RequestID.make(using: &random)
        answer.headers.insert(.init(APNsHeader.requestID, id), at: 0)
    }

    private func checkTopic(of route: Route, _ app: AppKey, team: String) throws(Refusal) {
        if app.name.contains(".push-type") { throw Refusal(.topicDisallowed) }
        if let owner = owners[app], owner != team { throw Refusal(.topicMismatch) }
        if capitals == .refused, route.operation.isManagement, route.hasCapitals { throw Refusal(.topicMismatch) }
        if capabilityOff.contains(app.name) { throw Refusal(.broadcastFeatureNotEnabled) }
    }

    private mutating func perform(
        _ operation: Route.Operation, _ request: SimulatorRequest, in app: AppKey, team: String, now: Date
    ) throws(Refusal) -> SimulatorAnswer {
        switch operation {
        case .create: return try create(request, in: app, team: team, now: now)
        case .read: return try read(request, in: app)
        case .delete: return try delete(request, in: app)
        case .list: return list(in: app)
        case .broadcast: return try broadcast(request, in: app, now: now)
        }
    }
}
