internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import Hummingbird
internal import JSON

/// The routes of broadcasts: accept durably, list, read, withdraw.
extension API {
    var broadcastRoutes: [Route] {
        let turns = BulkTurns()
        return [
            Route(.broadcast) { request, context in
                let key = try context.eventKey()
                let intake = try await Intake(.event(key), .checked(request.json()), context.caller, at: now())
                return .json(try await stores.outbox.accept(intake), status: .accepted)
            },
            Route(.previewBroadcast) { request, context in
                let key = try context.eventKey()
                let intake = try await Intake(.event(key), .checked(request.json()), context.caller, at: now())
                guard let preview = try await preview(intake)?.preview else { throw Problem.noOutboxAnswer }
                return .json(preview)
            },
            Route(.broadcastMany, bodyLimit: Contract.BroadcastBatch.maximumBytes, semaphore: turns.turn) {
                request, context in
                let body = try await request.json(upTo: Contract.BroadcastBatch.maximumBytes)
                return try await acceptEach(try Contract.BroadcastBatch.items(of: body), context)
            },
            Route(.broadcastToChannel) { request, context in
                let channel = try await freeChannel(context)
                let intake = try await Intake(.channel(channel.id), .checked(request.json()), context.caller, at: now())
                guard intake.request.audiences == nil else {
                    throw Problem.invalid("A channel is one audience.", at: "/audiences", "Leave audiences out here.")
                }
                guard intake.request.byVariant?.isEmpty ?? true else {
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

    private func acceptEach(
        _ items: [Result<Contract.BroadcastBatch.Item, Problem>], _ context: APIContext
    ) async throws -> Response {
        let (caller, at) = (try context.caller, now())
        let intakes = items.compactMap { try? $0.get() }.map { Intake(.event($0.key), $0.draft, caller, at: at) }
        var accepted = try await stores.outbox.accept(intakes)[...]
        let results = items.enumerated().map { place, item in
            item.flatMap { _ in accepted.removeFirst() }.mapError { $0.within("/items/\(place)") }
        }
        let answers = results.map { result -> Contract.BroadcastOutcome in
            switch result {
            case .success(let broadcast): .accepted(broadcast)
            case .failure(let problem): .refused(.init(problem: problem.body(named: context.requestID)))
            }
        }
        let response = Response.json(Contract.BroadcastBatchResult(items: answers), status: .accepted)
        let isAccepted = results.contains { if case .success = $0 { true } else { false } }
        guard isAccepted else { throw UnstoredAnswer(response: response) }
        return response
    }

    /// The channel in the path, if a request may send to it directly: it is active, and no event owns it.
    private func freeChannel(_ context: APIContext) async throws -> Channel {
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
    private let bulkGate = Semaphore(permits: bulkPermits)
    private let batchGate = Semaphore(permits: batchPermits)

    /// A call with at least this many bytes counts as bulk.
    static let minBulkBytes = 16_384
    /// The maximum number of bulk calls that are accepted at the same time. A call with 500 items uses a processor and
    /// a connection for a tenth of a second. With four such calls at a time, no processor or connection was left for a
    /// single urgent message. Two bulk calls at a time were not faster than one.
    static let bulkPermits = 1
    /// The maximum number of smaller calls that are accepted at the same time.
    static let batchPermits = 2

    func turn(for bytes: Int) -> Semaphore { bytes >= Self.minBulkBytes ? bulkGate : batchGate }
}

/// The operations on broadcasts and states that routes and pages share. Each is planned by the pure `DeliveryPlan`, and is
/// committed before the caller gets an answer.
extension API {
    /// Returns what accepting a broadcast or telling a state would do, and changes nothing.
    ///
    /// - Returns: the broadcast and its preview; `nil`: nothing would be sent.
    /// - Throws: the errors of accepting or telling it.
    func preview(
        _ intake: Intake
    ) async throws -> (accepted: Contract.Broadcast, preview: Contract.BroadcastPreview)? {
        guard let (accepted, rehearsed) = try await stores.outbox.rehearse(intake) else { return nil }
        var preview = rehearsed
        // What lock screens would show, by the apps' templates.
        let templates = try await previews(of: Set(preview.audiences.compactMap { BundleID(rawValue: $0.bundleId) }))
        for index in preview.audiences.indices {
            let content = try? preview.audiences[index].payload.value["aps"]?["content-state"]?.bytes
            preview.audiences[index].preview = templates[preview.audiences[index].bundleId]?.rendered(content)
        }
        return (accepted, preview)
    }

    /// Withdraws a broadcast that was sent to nobody yet.
    ///
    /// - Throws: `broadcast-not-found`, `broadcast-sent`.
    func withdraw(_ id: UUID, _ caller: APIKey) async throws {
        let withdrawal = try await stores.outbox.cancel(id, within: caller.reach, by: caller.actor, now: now())
        guard let isWithdrawn = withdrawal else { throw Problem.broadcastNotFound(id) }
        guard isWithdrawn else {
            throw Problem(
                .broadcastSent,
                "APNs accepted a message of this broadcast or may have accepted one, or the broadcast expired; it "
                    + "cannot be withdrawn. Send a newer update instead.")
        }
    }
}

extension Problem {
    static let noOutboxAnswer = Problem(.internalError, "The outbox answered nothing for the broadcast.")

    static func broadcastNotFound(_ id: UUID) -> Problem {
        Problem(.broadcastNotFound, "There is no broadcast \(id.text).")
    }
}

extension Contract.BroadcastBatch {
    typealias Item = (key: EventKey, draft: Contract.BroadcastDraft)

    static let maximumBytes = 4 * 1024 * 1024

    /// The shape of the body of `POST /v1/broadcasts` without that of its items.
    private static let bodyShape = RequestShape.object(
        [.init("items", isRequired: true, .array(.any, 1...500, isUnique: false))], excluding: [])

    /// Reads the items in their order, each by itself.
    ///
    /// - Throws: a problem with the whole body.
    static func items(of body: JSONValue) throws(Problem) -> [Result<Item, Problem>] {
        try bodyShape.read(body) { _ throws(Problem) in }
        return (body["items"]?.elements ?? []).map { element in
            Result { () throws(Problem) -> Item in
                let draft = try Contract.BroadcastDraft.checked(element, as: Contract.BroadcastItem.shape)
                return (try EventKey(allowed: element["eventKey"]?.string ?? ""), draft)
            }
        }
    }
}

extension Problem {
    /// The same problem of one item, with pointers from the root of the batch's body.
    func within(_ pointer: String) -> Problem {
        var problem = self
        problem.errors = errors.map { FieldError(pointer: pointer + $0.pointer, detail: $0.detail) }
        return problem
    }
}
