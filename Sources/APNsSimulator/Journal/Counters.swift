internal import APNsWire
internal import JSON

/// Counters since the start, or since they were cleared, in the JSON of the control API.
struct Counters: Sendable, Encodable {
    /// A kind of request; in an answer with the number of these requests.
    struct Verdict: Hashable, Sendable, Encodable, WritesNulls {
        let environment: APNsEnvironment
        let operation: Route.Operation?
        let status: Int
        let reason: String?
        fileprivate var count = 0

        static let leftOut: [String] = []

        init(_ entry: JournalEntry) {
            environment = entry.request.environment
            operation = entry.operation
            status = entry.status
            reason = entry.reason?.rawValue
        }

        fileprivate var place: (APNsEnvironment, String, Int, String) {
            (environment, operation?.rawValue ?? "", status, reason ?? "")
        }
    }

    struct Connections: Sendable, Encodable {
        var opened = 0
        var closed = 0
        var failed = 0
    }

    private var requests: [Verdict: Int] = [:]
    var connections = Connections()
    private var faultsActed = 0

    mutating func count(_ entry: JournalEntry) {
        requests[Verdict(entry), default: 0] += 1
        if entry.fault != nil { faultsActed += 1 }
    }

    private enum CodingKeys: String, CodingKey {
        case requests, byVerdict, connections, faultsActed
    }

    func encode(to encoder: any Encoder) throws {
        let verdicts = requests.sorted { $0.key.place < $1.key.place }.map { verdict, count in
            var verdict = verdict
            verdict.count = count
            return verdict
        }
        var to = encoder.container(keyedBy: CodingKeys.self)
        try to.encode(requests.values.reduce(0, +), forKey: .requests)
        try to.encode(verdicts, forKey: .byVerdict)
        try to.encode(connections, forKey: .connections)
        try to.encode(faultsActed, forKey: .faultsActed)
    }
}
