internal import APNsWire
internal import FoundationEssentials
internal import JSON

/// The JSON of buckets in the control API (docs/simulator.md).
extension Bucket {
    private struct Draft: Decodable {
        var name: String?
        var operation: Route.Operation?
        var by: Scope
        var rate: Double
        var burst: Double?
        var retryAfter: Bool?
        var environment: APNsEnvironment?
        var bundleId: String?
    }

    /// What may be changed at any time.
    struct Change: Decodable {
        var rate: Double?
        var burst: Double?
        var retryAfter: Bool?

        func apply(to bucket: inout Bucket) {
            if let rate { bucket.rate = rate }
            if let burst { bucket.burst = burst }
            if let retryAfter { bucket.saysRetryAfter = retryAfter }
        }

        func check(at place: String) throws(SimulatorError) {
            try SimulatorError.check(rate, in: 0...1_000_000, at: "\(place).rate")
            try SimulatorError.check(burst, in: 1...1_000_000, at: "\(place).burst")
        }
    }

    /// - Throws: an error that says what is wrong, and where.
    init(_ value: JSONValue, at place: String) throws(SimulatorError) {
        let draft: Draft = try value.read(at: place)
        let operation = draft.operation ?? .broadcast
        guard draft.by.serves(operation) else {
            throw SimulatorError(
                "\(place).by: \(draft.by.rawValue) cannot be used with the operation \(operation.rawValue).")
        }
        try Change(rate: draft.rate, burst: draft.burst).check(at: place)
        self.init(
            name: draft.name ?? "", operation, by: draft.by, rate: draft.rate, burst: draft.burst ?? max(1, draft.rate),
            saysRetryAfter: draft.retryAfter ?? false, environment: draft.environment, bundleID: draft.bundleId)
    }

    /// - Parameter limit: the most apps, channels, connections or device tokens whose counts are included, sorted by the
    ///   number of refusals; `nil`: none.
    func write(members object: inout JSONWriter, keys limit: Int? = nil) {
        object.member("name", name)
        object.member("operation", operation.rawValue)
        object.member("by", scope.rawValue)
        object.member("rate", rate)
        object.member("burst", burst)
        object.member("retryAfter", saysRetryAfter)
        if let environment { object.member("environment", environment.rawValue) }
        if let bundleID { object.member("bundleId", bundleID) }
        object.member("since", since.seconds)
        object.member("counts", counts)
        guard let limit else { return }
        let sorted = levels.sorted { left, right in
            let (one, other) = (left.value.counts, right.value.counts)
            return (one.refused, one.taken) > (other.refused, other.taken)
        }
        object.objects("keys", sorted.prefix(limit)) { object, level in
            if let app = level.key.app {
                object.member("bundleId", app.name)
                object.member("environment", app.environment.rawValue)
            }
            if let channelID = level.key.channelID { object.member("channelId", channelID) }
            if let connection = level.key.connection { object.member("connection", connection) }
            if let token = level.key.deviceToken { object.member("deviceToken", token) }
            object.member("counts", level.value.counts)
        }
        object.member("keysSeen", levels.count)
    }
}
