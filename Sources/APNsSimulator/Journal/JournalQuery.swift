internal import APNsWire

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

    static let numbers: Set = ["status", "connection", "after", "count", "timeout", "limit"]

    func matches(_ entry: JournalEntry) -> Bool {
        if let after, entry.number <= after { return false }
        if let operation, entry.operation != operation { return false }
        if let status, entry.status != status { return false }
        if let reason, entry.reason != APNsReason(rawValue: reason) { return false }
        if let fate, entry.fate != fate { return false }
        if let fault, entry.fault != fault { return false }
        if let requestId, entry.requestID != requestId { return false }
        if let connection, entry.request.connection != connection { return false }
        var match = FaultMatch()
        (match.method, match.path, match.environment) = (method, path, environment)
        (match.bundleId, match.channelId) = (bundleId, channelId)
        let route = bundleId == nil ? nil : try? Route(method: entry.request.method, path: entry.request.path)
        return match.matches(entry.request, route)
    }
}
