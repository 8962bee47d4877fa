internal import APNsWire
internal import FoundationEssentials
internal import JSON
internal import Synchronization

/// `/journal` and `/counters`.
extension ControlRouter {
    /// The longest wait of a request, in seconds.
    static let longestWait = 600.0

    func journal(_ request: ControlRequest) async throws(SimulatorError) -> ControlAnswer {
        guard request.path.count == 1 else {
            return .failure(404, "There is no such path below /journal: GET / lists all paths.")
        }
        switch request.method {
        case "GET": return try await entries(request)
        case "DELETE":
            core.change { memory, _ in memory.journal.removeAll() }
            return .done
        default: return Self.methodNotAllowed(request)
        }
    }

    func counters(_ request: ControlRequest) throws(SimulatorError) -> ControlAnswer {
        switch request.method {
        case "GET": return .ok(core.change { memory, _ in memory.counters.text })
        case "DELETE":
            core.change { memory, _ in memory.counters = Counters() }
            return .done
        default: return Self.methodNotAllowed(request)
        }
    }

    private struct Parameters: Decodable {
        var operation: Route.Operation?
        var environment: APNsEnvironment?
        var bundleId: String?
        var channelId: String?
        var method: String?
        var path: String?
        var status: Int?
        var reason: String?
        var fate: JournalEntry.Fate?
        var fault: String?
        var requestId: String?
        var connection: Int?
        var after: Int?
        var count: Int?
        var timeout: Double?
        var limit: Int?

        static let numbers: Set = ["status", "connection", "after", "count", "timeout", "limit"]

        var filter: JournalFilter {
            JournalFilter(
                operation: operation, environment: environment, bundleID: bundleId, channelID: channelId,
                method: method, path: path, status: status, reason: reason.map { APNsReason(rawValue: $0) },
                fate: fate, fault: fault, requestID: requestId, connection: connection, after: after)
        }
    }

    /// Answers 200 with the newest `limit` entries that match. With `count`, it first waits for that many matching
    /// entries. After `timeout` seconds it answers 408 with the entries so far.
    private func entries(_ request: ControlRequest) async throws(SimulatorError) -> ControlAnswer {
        let parameters: Parameters = try request.parameters(numbers: Parameters.numbers)
        try SimulatorError.check(parameters.limit, in: 0...1_000_000, at: "the query.limit")
        try SimulatorError.check(parameters.count, in: 1...1_000_000, at: "the query.count")
        try SimulatorError.check(parameters.timeout, in: 0...Self.longestWait, at: "the query.timeout")
        let (filter, limit, timeout) = (parameters.filter, parameters.limit ?? 1_000, parameters.timeout ?? 10)
        func body(_ entries: [JournalEntry], error: String? = nil) -> [UInt8] {
            JSONWriter.text { object in
                if let error { object.member("error", error) }
                object.objects("entries", entries.suffix(limit)) { $1.write(members: &$0) }
            }
        }
        guard let count = parameters.count else {
            return .ok(body(core.change { memory, _ in memory.journal.entries.filter(filter.matches) }))
        }
        if let found = await core.entries(count, where: filter.matches, within: .seconds(timeout)) {
            return .ok(body(found))
        }
        let entries = core.change { memory, _ in memory.journal.entries.filter(filter.matches) }
        return ControlAnswer(
            status: 408,
            body: body(entries, error: "Only \(entries.count) of \(count) requests came within \(timeout) s."))
    }
}

extension SimulatorCore {
    /// Waits until `count` matching requests have been seen, including those in the journal.
    ///
    /// - Returns: `nil` if the time was over first, or the task was cancelled.
    func entries(
        _ count: Int, where matches: @escaping @Sendable (JournalEntry) -> Bool, within limit: Duration
    ) async -> [JournalEntry]? {
        let (stream, continuation) = AsyncStream.makeStream(of: [JournalEntry].self)
        let (id, found) = change { memory, _ in
            let id = memory.journal.reserveWaiterID()
            let waiter = Journal.Waiter(
                id: id, count: count, matches: matches, found: [], continuation: continuation)
            return (id, memory.journal.wait(waiter))
        }
        defer { change { memory, _ in memory.journal.stopWaiting(id) } }
        if let found { return found }
        let timer = Task {
            try? await Task.sleep(for: limit)
            continuation.finish()
        }
        defer { timer.cancel() }
        for await found in stream { return found }
        return nil
    }
}

extension JournalEntry {
    fileprivate func write(members object: inout JSONWriter) {
        object.member("number", number)
        object.member("time", time.seconds)
        object.member("environment", request.environment.rawValue)
        object.member("host", request.service.rawValue)
        object.member("connection", request.connection)
        object.member("method", request.method)
        object.member("path", request.path)
        object.member("operation", operation?.rawValue)
        object.objects("headers", request.headers) { object, header in
            object.member("name", header.name)
            object.member("value", header.value)
        }
        object.member("body", String(decoding: request.body, as: UTF8.self))
        object.member("bodyIsCut", request.bodyIsCut)
        object.member("status", status)
        object.member("reason", reason?.rawValue)
        object.member("requestId", requestID)
        object.member("fate", fate.rawValue)
        object.member("fault", fault)
    }
}

extension Counters {
    fileprivate var text: [UInt8] {
        let rows = requests.sorted { left, right in
            let left = (left.key.environment, left.key.operation?.rawValue ?? "", left.key.status)
            return left < (right.key.environment, right.key.operation?.rawValue ?? "", right.key.status)
        }
        return JSONWriter.text { object in
            object.member("requests", total)
            object.objects("byVerdict", rows) { object, row in
                object.member("environment", row.key.environment.rawValue)
                object.member("operation", row.key.operation?.rawValue)
                object.member("status", row.key.status)
                object.member("reason", row.key.reason?.rawValue)
                object.member("count", row.value)
            }
            object.object("connections") { object in
                object.member("opened", connectionsOpened)
                object.member("closed", connectionsClosed)
                object.member("failed", connectionsFailed)
            }
            object.member("faultsActed", faultsActed)
        }
    }
}
