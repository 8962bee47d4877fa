internal import APNsWire
internal import FoundationEssentials
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
        case "GET": return .ok(core.change { memory, _ in memory.counters.json })
        case "DELETE":
            core.change { memory, _ in memory.counters = Counters() }
            return .done
        default: return Self.methodNotAllowed(request)
        }
    }

    /// Answers 200 with the newest `limit` entries that match. With `count`, it first waits for that many matching
    /// entries. After `timeout` seconds it answers 408 with the entries so far.
    private func entries(_ request: ControlRequest) async throws(SimulatorError) -> ControlAnswer {
        let fields = try request.parameters(
            known: JournalFilter.names + ["count", "timeout", "limit"],
            numbers: ["status", "connection", "after", "count", "timeout", "limit"])
        let filter = try JournalFilter(fields)
        let limit = try fields.integer("limit", in: 0...1_000_000) ?? 1_000
        guard let count = try fields.integer("count", in: 1...1_000_000) else {
            let entries = core.change { memory, _ in memory.journal.entries.filter(filter.matches) }
            return .ok(["entries": .array(entries.suffix(limit).map(\.json))])
        }
        let timeout = try fields.number("timeout", in: 0...Self.longestWait) ?? 10
        if let found = await core.entries(count, where: filter.matches, within: .seconds(timeout)) {
            return .ok(["entries": .array(found.suffix(limit).map(\.json))])
        }
        let entries = core.change { memory, _ in memory.journal.entries.filter(filter.matches) }
        return ControlAnswer(
            status: 408,
            body: [
                "error": .string("Only \(entries.count) of \(count) requests came within \(timeout) s."),
                "entries": .array(entries.suffix(limit).map(\.json)),
            ])
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

extension JournalFilter {
    init(_ fields: JSONFields) throws(SimulatorError) {
        operation = try fields.choice("operation")
        environment = try fields.choice("environment")
        bundleID = try fields.string("bundleId")
        channelID = try fields.string("channelId")
        method = try fields.string("method")
        path = try fields.string("path")
        status = try fields.integer("status", in: 0...999)
        reason = try fields.string("reason").map { APNsReason(rawValue: $0) }
        fate = try fields.choice("fate")
        fault = try fields.string("fault")
        requestID = try fields.string("requestId")
        connection = try fields.integer("connection", in: 0...Int.max)
        after = try fields.integer("after", in: 0...Int.max)
    }
}

extension JournalEntry {
    var json: JSONValue {
        [
            "number": .integer(number), "time": .seconds(time.timeIntervalSince1970),
            "environment": .string(request.environment.rawValue), "host": .string(request.service.rawValue),
            "connection": .integer(request.connection), "method": .string(request.method),
            "path": .string(request.path), "operation": .optional(operation?.rawValue),
            "headers": .array(request.headers.map { ["name": .string($0.name), "value": .string($0.value)] }),
            "body": .string(String(decoding: request.body, as: UTF8.self)), "bodyIsCut": .bool(request.bodyIsCut),
            "status": .integer(status), "reason": .optional(reason?.rawValue),
            "requestId": .string(requestID), "fate": .string(fate.rawValue), "fault": .optional(fault),
        ]
    }
}

extension Counters {
    var json: JSONValue {
        let rows = requests.sorted { left, right in
            let left = (left.key.environment, left.key.operation?.rawValue ?? "", left.key.status)
            return left < (right.key.environment, right.key.operation?.rawValue ?? "", right.key.status)
        }
        return [
            "requests": .integer(total),
            "byVerdict": .array(
                rows.map { key, count in
                    [
                        "environment": .string(key.environment.rawValue),
                        "operation": .optional(key.operation?.rawValue), "status": .integer(key.status),
                        "reason": .optional(key.reason?.rawValue), "count": .integer(count),
                    ]
                }),
            "connections": [
                "opened": .integer(connectionsOpened), "closed": .integer(connectionsClosed),
                "failed": .integer(connectionsFailed),
            ],
            "faultsActed": .integer(faultsActed),
        ]
    }
}
