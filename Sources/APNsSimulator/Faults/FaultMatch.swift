internal import APNsWire

/// The requests that a fault is about. A member that is `nil` matches everything.
struct FaultMatch: Sendable, Hashable {
    var operation: Route.Operation?
    var method: String?
    /// The whole path, or its beginning with a `*` at the end.
    var path: String?
    var environment: APNsEnvironment?
    /// Without regard to case.
    var bundleID: String?
    /// Byte for byte.
    var channelID: String?
    /// Of the requests that match all the above, only this one: 1 is the first.
    var nth: Int?
    /// Of those, every n-th.
    var every: Int?
    /// Of those, each with this probability.
    var rate: Double?

    /// All but the counting.
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

    /// The app a request is about, in lowercase; a device push names it in its topic.
    static func app(of request: SimulatorRequest, _ route: Route?) -> String? {
        guard let route else { return nil }
        guard route.operation == .device else { return route.appName }
        let topic = request[header: APNsHeader.topic]?.lowercased()
        return topic.map { $0.hasSuffix(PushType.topicSuffix) ? String($0.dropLast(PushType.topicSuffix.count)) : $0 }
    }
}
