package import APNsWire
internal import JSON
internal import NIOCore

/// The newest requests.
struct Journal: Sendable {
    /// The journal keeps at most about this many bytes, whatever the number of entries.
    static let byteCapacity = 32 << 20

    private let capacity: Int
    private var ring = CircularBuffer<JournalEntry>()
    private var byteCount = 0
    /// The number of the newest entry. It keeps growing when the journal is cleared.
    private(set) var lastNumber = 0

    /// - Parameter capacity: the most entries; 0 keeps none.
    init(capacity: Int) { self.capacity = capacity }

    var entries: [JournalEntry] { Array(ring) }

    /// The entries with a higher number, the oldest first.
    func entries(after number: Int) -> ArraySlice<JournalEntry> {
        Array(ring.suffix(lastNumber - number)).drop { $0.number <= number }
    }

    mutating func removeAll() {
        ring.removeAll()
        byteCount = 0
    }

    /// Adds an entry with the next number.
    mutating func record(_ entry: JournalEntry) {
        lastNumber += 1
        var entry = entry
        entry.number = lastNumber
        byteCount += entry.size
        ring.append(entry)
        while byteCount > Self.byteCapacity || ring.count > capacity, let gone = ring.popFirst() {
            byteCount -= gone.size
        }
    }
}

/// One request with its answer.
package struct JournalEntry: Sendable, Hashable {
    /// Whether the answer reached the client.
    package enum Fate: String, ControlWord {
        case answered
        /// The answer was withheld for a while (the fault `delay`).
        case held
        /// The request was processed, but never answered (the fault `lose`).
        case dropped
        /// The request was neither processed nor answered: a fault ended the request before it was processed.
        case unprocessed
    }

    /// 1 for the first request since the start. It keeps growing when the journal is cleared.
    package internal(set) var number = 0
    /// Seconds since 1970 on the simulator's clock.
    package let time: Double
    /// The request as received, including its token.
    package let request: SimulatorRequest
    /// The route; `nil` if APNs has no such path or method.
    package let operation: Route.Operation?
    /// The status of the answer; 0: there was none.
    package let status: Int
    /// Why the request was refused; `nil` when it was accepted.
    package let reason: APNsReason?
    /// The `apns-request-id` or `apns-id` of the answer; empty when there was none.
    package let requestID: String
    /// Whether the answer was sent.
    package let fate: Fate
    /// The name of the fault that acted on the request; `nil`: none.
    package let fault: String?

    /// About how many bytes it takes in memory. Most headers have a buffer for their value.
    var size: Int {
        request.headers.reduce(512 + request.path.utf8.count + request.body.count) {
            $0 + 96 + $1.name.utf8.count + $1.value.utf8.count
        }
    }
}

/// The entry in the control API.
extension JournalEntry: Encodable, WritesNulls {
    /// No member is left out.
    package static let leftOut: [String] = []

    private enum CodingKeys: String, CodingKey {
        case number, time, environment, host, connection, method, path, operation, headers, body, bodyIsCut, status,
            reason, requestId, fate, fault
    }

    package func encode(to encoder: any Encoder) throws {
        var to = encoder.container(keyedBy: CodingKeys.self)
        try to.encode(number, forKey: .number)
        try to.encode(time, forKey: .time)
        try to.encode(request.environment, forKey: .environment)
        try to.encode(request.service, forKey: .host)
        try to.encode(request.connectionID, forKey: .connection)
        try to.encode(request.method, forKey: .method)
        try to.encode(request.path, forKey: .path)
        try to.encodeIfPresent(operation, forKey: .operation)
        try to.encode(request.headers, forKey: .headers)
        try to.encode(String(decoding: request.body, as: UTF8.self), forKey: .body)
        try to.encode(request.bodyIsCut, forKey: .bodyIsCut)
        try to.encode(status, forKey: .status)
        try to.encodeIfPresent(reason?.rawValue, forKey: .reason)
        try to.encode(requestID, forKey: .requestId)
        try to.encode(fate, forKey: .fate)
        try to.encodeIfPresent(fault, forKey: .fault)
    }
}

/// The query of `GET /journal`. A member that is `nil` matches everything.
struct JournalQuery: Sendable, Decodable {
    private var operation: Route.Operation?
    private var environment: APNsEnvironment?
    private var bundleId: String?
    private var channelId: String?
    private var method: String?
    private var path: String?
    private var status: Int?
    private var reason: String?
    private var fate: JournalEntry.Fate?
    private var fault: String?
    private var requestId: String?
    private var connection: Int?
    /// Only entries with a higher number.
    private var after: Int?
    /// Wait until so many entries match.
    var count: Int?
    /// For at most so many seconds.
    var timeout: Double?
    /// The most entries in the answer.
    var limit: Int?

    static let numeric: Set = ["status", "connection", "after", "count", "timeout", "limit"]

    func matches(_ entry: JournalEntry) -> Bool {
        if let after, entry.number <= after { return false }
        if let operation, entry.operation != operation { return false }
        if let status, entry.status != status { return false }
        if let reason, entry.reason != APNsReason(rawValue: reason) { return false }
        if let fate, entry.fate != fate { return false }
        if let fault, entry.fault != fault { return false }
        if let requestId, entry.requestID != requestId { return false }
        if let connection, entry.request.connectionID != connection { return false }
        var match = FaultMatch()
        (match.method, match.path, match.environment) = (method, path, environment)
        (match.bundleId, match.channelId) = (bundleId, channelId)
        let route = bundleId == nil ? nil : try? Route(method: entry.request.method, path: entry.request.path)
        return match.matches(entry.request, route)
    }
}

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

        fileprivate var sortKey: (APNsEnvironment, String, Int, String) {
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
        let verdicts = requests.sorted { $0.key.sortKey < $1.key.sortKey }.map { verdict, count in
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
