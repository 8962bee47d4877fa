internal import APNsWire

/// The faults of a simulator, in the order they were added. At most one fault acts on a request: the first one that
/// applies to it.
struct FaultBook: Sendable {
    /// A script of faults: `{"seed": 7, "faults": [ … ]}`.
    struct Script: Decodable {
        /// `nil`: keep the random numbers of the simulator's own seed.
        var seed: UInt64?
        var faults: [Fault]?
    }

    private(set) var faults: [Fault] = []
    private var random: SeededRandom
    private var addCount = 0
    /// The answers that faults withhold until they are removed, by the fault's name.
    private var withheld: [String: [@Sendable () -> Void]] = [:]

    /// - Parameter seed: makes the faults' rates reproducible.
    init(seed: UInt64) { random = SeededRandom(seed: seed) }

    /// Adds a fault at the end. If it has no name, it gets one.
    ///
    /// - Returns: the fault as it was added.
    /// - Throws: if the name is taken.
    mutating func add(_ fault: Fault) throws(SimulatorError) -> Fault {
        var fault = fault
        addCount += 1
        if fault.name.isEmpty { fault.name = "fault-\(addCount)" }
        guard !faults.contains(where: { $0.name == fault.name }) else {
            throw SimulatorError(
                "There is a fault \"\(fault.name)\" already: remove it first, or choose another name.")
        }
        faults.append(fault)
        return fault
    }

    /// Adds a script completely or not at all. If it has a seed, the random numbers start again from this seed.
    mutating func add(_ script: Script) throws(SimulatorError) {
        var book = self
        if let seed = script.seed { book.random = SeededRandom(seed: seed) }
        for fault in script.faults ?? [] { _ = try book.add(fault) }
        self = book
    }

    /// Withholds an answer until the fault is removed.
    mutating func withhold(_ answer: @escaping @Sendable () -> Void, by name: String) {
        withheld[name, default: []].append(answer)
    }

    /// - Returns: the answers that the removed faults withheld, in the order of their requests; `nil` if no fault was
    ///   removed.
    mutating func remove(where isRemoved: (Fault) -> Bool) -> [@Sendable () -> Void]? {
        let names = faults.filter(isRemoved).map(\.name)
        faults.removeAll(where: isRemoved)
        return names.isEmpty ? nil : names.flatMap { withheld.removeValue(forKey: $0) ?? [] }
    }

    /// The fault that acts on a request.
    mutating func trigger(_ request: SimulatorRequest, _ route: Route?) -> Fault? {
        trigger { $0.action != .tls && $0.match.matches(request, route) }
    }

    /// The fault that acts on a new connection.
    mutating func trigger(connectionTo environment: APNsEnvironment) -> Fault? {
        trigger { $0.action == .tls && $0.match.environment ?? environment == environment }
    }

    private mutating func trigger(where matches: (Fault) -> Bool) -> Fault? {
        for index in faults.indices where matches(faults[index]) && faults[index].trigger(using: &random) {
            return faults[index]
        }
        return nil
    }
}

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
        guard route.operation == .device else { return route.bundle }
        let topic = request[header: APNsHeader.topic]?.lowercased()
        return topic.map { $0.hasSuffix(PushType.topicSuffix) ? String($0.dropLast(PushType.topicSuffix.count)) : $0 }
    }
}
