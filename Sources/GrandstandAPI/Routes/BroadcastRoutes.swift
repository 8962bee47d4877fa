internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandService
internal import Hummingbird

/// Broadcasts: accepted durably, read back at any time.
struct BroadcastRoutes: Sendable {
    let events: any EventStore
    let outbox: any Outbox
    let intake: Intake
    let now: @Sendable () -> Date

    var routes: [Route] {
        [
            Route(.post, "/v1/events/:key/broadcasts", .scope(.organise), accept),
            Route(.post, "/v1/broadcasts", .scope(.organise), acceptBatch),
            Route(.get, "/v1/events/:key/broadcasts", .scope(.organise), list),
            Route(.get, "/v1/broadcasts/:id", .scope(.organise), get),
            Route(.delete, "/v1/broadcasts/:id", .scope(.organise), cancel),
        ]
    }

    private func accept(_ request: Request, _ context: APIContext) async throws -> Response {
        _ = try request.query()
        let key = try context.eventKey()
        let broadcast = try BroadcastRequest(body: try await request.json())
        if context.key?.bundleID != nil { try await requireCover(of: key, context) }
        return .json(try await intake.accept(broadcast, for: key), status: .accepted)
    }

    private func acceptBatch(_ request: Request, _ context: APIContext) async throws -> Response {
        _ = try request.query()
        let batch = try BroadcastBatch(body: try await request.json(upTo: BroadcastBatch.maximumBytes))
        var results: [Result<Broadcast, Problem>?] = batch.items.map { item in
            if case .failure(let problem) = item { .failure(problem) } else { nil }
        }
        var wanted: [(place: Int, intake: BroadcastIntake)] = []
        for (place, item) in batch.items.enumerated() {
            guard case .success(let intake) = item else { continue }
            do {
                if context.key?.bundleID != nil { try await requireCover(of: intake.eventKey, context) }
                wanted.append((place, intake))
            } catch let problem as Problem {
                results[place] = .failure(problem)
            }
        }
        let accepted = try await intake.accept(wanted.map(\.intake))
        for ((place, _), result) in zip(wanted, accepted) {
            results[place] = result.mapError { $0.within("/items/\(place)") }
        }
        return .json(
            BroadcastBatchView(results: results.compactMap(\.self), requestID: context.requestID), status: .accepted)
    }

    private func list(_ request: Request, _ context: APIContext) async throws -> Response {
        let page = try request.query("limit", "cursor").page()
        let key = try context.eventKey()
        try await requireCover(of: key, context)
        return .json(try await outbox.broadcasts(of: key, page))
    }

    private func get(_ request: Request, _ context: APIContext) async throws -> Response {
        _ = try request.query()
        return .json(try await broadcast(context))
    }

    private func cancel(_ request: Request, _ context: APIContext) async throws -> Response {
        _ = try request.query()
        let broadcast = try await broadcast(context)
        guard try await outbox.cancel(broadcast.id, now: now()) ?? false else {
            throw Problem(
                .broadcastSent,
                "Something of this broadcast was sent, or it is an end; it cannot be withdrawn. "
                    + "Send a newer update instead.")
        }
        return .noContent
    }

    private func broadcast(_ context: APIContext) async throws -> Broadcast {
        let id = try context.id(orThrow: .broadcastNotFound)
        guard let broadcast = try await outbox.broadcast(id) else {
            throw Problem(.broadcastNotFound, "There is no broadcast \(id.uuidString.lowercased()).")
        }
        for delivery in broadcast.deliveries { try context.requireCover(of: delivery.bundleID) }
        return broadcast
    }

    private func requireCover(of key: EventKey, _ context: APIContext) async throws {
        guard let event = try await events.event(key, now: now()) else {
            throw Problem(.eventNotFound, "There is no event \(key).")
        }
        try context.requireCover(of: event)
    }
}
