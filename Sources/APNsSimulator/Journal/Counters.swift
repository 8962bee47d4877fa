internal import APNsWire

/// Counters since the start, or since they were cleared.
struct Counters: Sendable {
    struct Key: Hashable, Sendable {
        var environment: APNsEnvironment
        var operation: Route.Operation?
        var status: Int
        var reason: APNsReason?
    }

    private(set) var requests: [Key: Int] = [:]
    var connectionsOpened = 0
    var connectionsClosed = 0
    var connectionsFailed = 0
    var faultsActed = 0

    mutating func count(_ key: Key) { requests[key, default: 0] += 1 }

    var total: Int { requests.values.reduce(0, +) }
}
