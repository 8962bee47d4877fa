internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import Hummingbird

/// The routes of broadcasts: accept durably, list, read, withdraw.
extension API {
    var broadcastRoutes: [Route] {
        let turns = BulkTurns()
        return [
            Route(.broadcast) { request, context in
                let key = try context.eventKey()
                let intake = try await Intake(.event(key), request.json(), context.caller, at: now())
                return .json(try await stores.outbox.accept(intake), status: .accepted)
            },
            Route(.previewBroadcast) { request, context in
                let key = try context.eventKey()
                let intake = try await Intake(.event(key), request.json(), context.caller, at: now())
                guard let preview = try await preview(intake).broadcast else { throw Problem.unansweredBroadcast }
                return .json(preview)
            },
            Route(.broadcastMany, bodyLimit: Contract.BroadcastBatch.maximumBytes) { request, context in
                let body = try await request.json(upTo: Contract.BroadcastBatch.maximumBytes)
                let items = try Contract.BroadcastBatch.items(of: body, context.caller, at: now())
                return Route.Prepared(turn: turns.turn(for: items.count)) { try await acceptEach(items, context) }
            },
            Route(.broadcastToChannel) { request, context in
                let channel = try await channel(context)
                let intake = try await Intake(.channel(channel.id), request.json(), context.caller, at: now())
                guard intake.request.audiences == nil else {
                    throw Problem.invalid("A channel is one audience.", at: "/audiences", "Leave audiences out here.")
                }
                guard intake.request.byVariant.isEmpty else {
                    throw Problem.invalid(
                        "A channel that belongs to no event has no variant.", at: "/byVariant",
                        "Leave byVariant out here.")
                }
                return .json(try await stores.outbox.accept(intake), status: .accepted)
            },
            Route(.listBroadcasts) { _, context in
                let page = try context.query.page()
                let isScheduled = try context.query.flag("scheduled")
                let (key, reach) = (try context.eventKey(), try context.caller.reach)
                _ = try await stores.events.declared(key, within: reach, now: now())
                return .json(
                    try await stores.outbox.broadcasts(of: key, within: reach, page, isScheduled: isScheduled))
            },
            Route(.getBroadcast) { _, context in
                let id = try context.id(orThrow: .broadcastNotFound)
                guard let broadcast = try await stores.outbox.broadcast(id, within: context.caller.reach) else {
                    throw Problem.broadcastNotFound(id)
                }
                return .json(broadcast)
            },
            Route(.cancelBroadcast) { _, context in
                try await withdraw(try context.id(orThrow: .broadcastNotFound), context.caller)
                return .noContent
            },
        ]
    }

    private func acceptEach(_ items: [Result<Intake, Problem>], _ context: APIContext) async throws -> Response {
        // The call may have waited for its turn.
        let at = now()
        let intakes = items.compactMap { item -> Intake? in
            var intake = try? item.get()
            intake?.at = at
            return intake
        }
        var accepted = try await stores.outbox.accept(intakes)[...]
        let results = items.enumerated().map { place, item in
            item.flatMap { _ in
                (accepted.popFirst() ?? .failure(.unansweredBroadcast)).mapError { $0.within("/items/\(place)") }
            }
        }
        let answer = Contract.BroadcastBatchResult(results, requestID: context.requestID)
        let response = Response.json(answer, status: .accepted)
        let isAccepted = results.contains { if case .success = $0 { true } else { false } }
        guard isAccepted else { throw WithoutEffect(response: response) }
        return response
    }

    /// The channel in the path, if a request may send to it directly: it is active, and no event owns it.
    private func channel(_ context: APIContext) async throws -> Channel {
        let channel = try await stores.channels.recorded(
            try context.id(orThrow: .channelNotFound), of: try context.app(), among: stores.apps)
        if let key = channel.eventKey {
            throw Problem(
                .channelInUse, "The channel belongs to the event \(key): send to /v1/events/\(key)/broadcasts.")
        }
        if channel.state == .active { return channel }
        if channel.state == .creating {
            throw Problem(.channelPending, "The channel is still being created.", retryAfter: 2)
        }
        throw Problem(.channelNotFound, "The channel is \(channel.state.rawValue). Create another.")
    }
}

/// Where calls with several broadcasts wait before they take a database connection. Without this wait, large calls would
/// hold all connections, and urgent messages would wait for a connection.
struct BulkTurns: Sendable {
    private let bulk = Semaphore(permits: bulkPermits)
    private let batches = Semaphore(permits: batchPermits)

    /// A call with at least this many items counts as bulk.
    static let bulkSize = 50
    /// The maximum number of bulk calls that are accepted at the same time. A call with 500 items uses a processor and
    /// a connection for a tenth of a second. With four such calls at a time, no processor or connection was left for a
    /// single urgent message. Two bulk calls at a time were not faster than one.
    static let bulkPermits = 1
    /// The maximum number of calls with several items, but fewer than `bulkSize`, that are accepted at the same time.
    static let batchPermits = 2

    /// - Returns: `nil`: the call need not wait.
    func turn(for items: Int) -> Semaphore? {
        if items >= Self.bulkSize { return bulk }
        return items > 1 ? batches : nil
    }
}
