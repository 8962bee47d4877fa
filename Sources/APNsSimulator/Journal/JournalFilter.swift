internal import APNsWire

/// Selects entries of the journal. A member that is `nil` matches everything.
struct JournalFilter: Sendable, Hashable {
    var operation: Route.Operation?
    var environment: APNsEnvironment?
    /// The bundle ID, compared without regard to case.
    var bundleID: String?
    var channelID: String?
    var method: String?
    /// The whole path, or a prefix followed by `*`.
    var path: String?
    var status: Int?
    var reason: APNsReason?
    var fate: JournalEntry.Fate?
    var fault: String?
    var requestID: String?
    var connection: Int?
    /// Only entries with a higher number.
    var after: Int?

    func matches(_ entry: JournalEntry) -> Bool {
        if let after, entry.number <= after { return false }
        if let operation, entry.operation != operation { return false }
        if let status, entry.status != status { return false }
        if let reason, entry.reason != reason { return false }
        if let fate, entry.fate != fate { return false }
        if let fault, entry.fault != fault { return false }
        if let requestID, entry.requestID != requestID { return false }
        if let connection, entry.request.connection != connection { return false }
        let match = FaultMatch(
            method: method, path: path, environment: environment, bundleID: bundleID, channelID: channelID)
        let route = bundleID == nil ? nil : try? Route(method: entry.request.method, path: entry.request.path)
        return match.matches(entry.request, route)
    }
}
