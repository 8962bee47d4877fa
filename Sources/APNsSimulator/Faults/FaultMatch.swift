internal import APNsWire

/// The requests that a fault applies to. A member that is `nil` matches everything.
struct FaultMatch: Sendable, Hashable, Codable {
    var operation: Route.Operation?
    var method: String?
    /// The whole path, or a prefix followed by `*`.
    var path: String?
    var environment: APNsEnvironment?
    /// The bundle ID, compared without regard to case.
    var bundleID: String?
    /// The channel ID, compared byte for byte.
    var channelID: String?
    /// Only the n-th request that matches all members above, counted from 1.
    var nth: Int?
    /// Only every n-th request that matches all members above.
    var every: Int?
    /// The probability with which the fault acts on each request that matches all members above.
    var rate: Double?

    private enum CodingKeys: String, CodingKey {
        case operation, method, path, environment
        case bundleID = "bundleId"
        case channelID = "channelId"
        case nth, every, rate
    }

    /// Whether the request matches, without regard to `nth`, `every` and `rate`.
    func matches(_ request: SimulatorRequest, _ route: Route?) -> Bool {
        if let environment, environment != request.environment { return false }
        if let method, method != request.method { return false }
        if let operation, operation != route?.operation { return false }
        if let bundleID, bundleID.lowercased() != Self.app(of: request, route) { return false }
        if let channelID, channelID != request[header: APNsHeader.channelID] { return false }
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
