internal import APNsWire

/// The requests that a fault applies to. A member that is `nil` matches everything.
struct FaultMatch: Sendable, Hashable, Codable {
    var operation: Route.Operation?
    var method: String?
    /// The whole path, or a prefix followed by `*`.
    var path: String?
    var environment: APNsEnvironment?
    /// The bundle ID, compared without regard to case.
    var bundleId: String?
    /// The channel ID, compared byte for byte.
    var channelId: String?
    /// Only the n-th request that matches all members above, counted from 1.
    var nth: Int?
    /// Only every n-th request that matches all members above.
    var every: Int?
    /// The probability with which the fault acts on each request that matches all members above.
    var rate: Double?

    init() {}

    init(from decoder: any Decoder) throws {
        let from = try decoder.container(keyedBy: CodingKeys.self)
        operation = try from.decodeIfPresent(Route.Operation.self, forKey: .operation)
        method = try from.decodeIfPresent(String.self, forKey: .method)
        path = try from.decodeIfPresent(String.self, forKey: .path)
        environment = try from.decodeIfPresent(APNsEnvironment.self, forKey: .environment)
        bundleId = try from.decodeIfPresent(String.self, forKey: .bundleId)
        channelId = try from.decodeIfPresent(String.self, forKey: .channelId)
        nth = try from.number(.nth, in: 1...Int.max)
        every = try from.number(.every, in: 1...Int.max)
        rate = try from.number(.rate, in: 0...1)
    }

    /// Whether it selects requests by something that a new connection does not have.
    var isAboutRequests: Bool {
        operation != nil || method != nil || path != nil || bundleId != nil || channelId != nil
    }

    /// Whether the request matches, without regard to `nth`, `every` and `rate`.
    func matches(_ request: SimulatorRequest, _ route: Route?) -> Bool {
        if let environment, environment != request.environment { return false }
        if let method, method != request.method { return false }
        if let operation, operation != route?.operation { return false }
        if let bundleId, bundleId.lowercased() != Self.app(of: request, route) { return false }
        if let channelId, channelId != request[header: APNsHeader.channelID] { return false }
        if let path {
            let matches = path.hasSuffix("*") ? request.path.hasPrefix(path.dropLast()) : request.path == path
            if !matches { return false }
        }
        return true
    }

    /// The bundle ID of a request in lower case. In a device push, the topic contains the bundle ID.
    static func app(of request: SimulatorRequest, _ route: Route?) -> String? {
        guard let route else { return nil }
        guard route.operation == .device else { return route.appName }
        let topic = request[header: APNsHeader.topic]?.lowercased()
        return topic.map { $0.hasSuffix(PushType.topicSuffix) ? String($0.dropLast(PushType.topicSuffix.count)) : $0 }
    }
}
