internal import APNsWire
internal import FoundationEssentials

/// The JSON of buckets in the control API (docs/simulator.md).
extension Bucket {
    private static let rates = 0.0...1_000_000
    private static let bursts = 1.0...1_000_000

    /// - Throws: an error that says what is wrong, and where.
    init(_ value: JSONValue, at place: String) throws(SimulatorError) {
        let fields = try JSONFields(
            value, at: place,
            known: ["name", "operation", "by", "rate", "burst", "retryAfter", "environment", "bundleId"])
        guard let scope = try fields.choice("by", of: Scope.self) else {
            let all = Scope.allCases.map(\.rawValue).joined(separator: ", ")
            throw SimulatorError("\(fields.place("by")): missing; write one of \(all).")
        }
        let operation: Route.Operation = try fields.choice("operation") ?? .broadcast
        guard scope.serves(operation) else {
            throw SimulatorError(
                "\(fields.place("by")): \(scope.rawValue) cannot be used with the operation \(operation.rawValue).")
        }
        guard let rate = try fields.number("rate", in: Self.rates) else {
            throw SimulatorError("\(fields.place("rate")): missing; write the requests per second.")
        }
        self.init(
            name: try fields.string("name") ?? "", operation, by: scope, rate: rate,
            burst: try fields.number("burst", in: Self.bursts) ?? max(1, rate),
            saysRetryAfter: try fields.bool("retryAfter") ?? false, environment: try fields.choice("environment"),
            bundleID: try fields.string("bundleId"))
    }

    /// Reads the fields that may be changed at any time: `rate`, `burst`, `retryAfter`.
    ///
    /// - Returns: a function that applies the change.
    static func change(_ value: JSONValue, at place: String) throws(SimulatorError) -> @Sendable (inout Bucket) -> Void
    {
        let fields = try JSONFields(value, at: place, known: ["rate", "burst", "retryAfter"])
        let rate = try fields.number("rate", in: rates)
        let burst = try fields.number("burst", in: bursts)
        let saysRetryAfter = try fields.bool("retryAfter")
        return { bucket in
            if let rate { bucket.rate = rate }
            if let burst { bucket.burst = burst }
            if let saysRetryAfter { bucket.saysRetryAfter = saysRetryAfter }
        }
    }

    var json: JSONValue {
        .members([
            "name": .string(name), "operation": .string(operation.rawValue), "by": .string(scope.rawValue),
            "rate": .seconds(rate), "burst": .seconds(burst), "retryAfter": .bool(saysRetryAfter),
            "environment": environment.map { .string($0.rawValue) }, "bundleId": bundleID.map { .string($0) },
            "since": .seconds(since.timeIntervalSince1970), "counts": counts.json,
        ])
    }

    /// Includes the counts of each app, channel, connection or device token, sorted by the number of refusals.
    func json(keys limit: Int) -> JSONValue {
        guard case .object(let members) = json else { return json }
        let sorted = levels.sorted { left, right in
            let (one, other) = (left.value.counts, right.value.counts)
            return (one.refused, one.taken) > (other.refused, other.taken)
        }
        let keys = sorted.prefix(limit).map { key, level in
            JSONValue.members([
                "bundleId": key.app.map { .string($0.name) },
                "environment": key.app.map { .string($0.environment.rawValue) },
                "channelId": key.channelID.map { .string($0) }, "connection": key.connection.map { .integer($0) },
                "deviceToken": key.deviceToken.map { .string($0) }, "counts": level.counts.json,
            ])
        }
        return .object(
            members + [
                .init(name: "keys", value: .array(Array(keys))), .init(name: "keysSeen", value: .integer(levels.count)),
            ])
    }
}

extension Bucket.Counts {
    fileprivate var json: JSONValue {
        ["taken": .integer(taken), "refused": .integer(refused), "allowed": .seconds(allowed)]
    }
}
