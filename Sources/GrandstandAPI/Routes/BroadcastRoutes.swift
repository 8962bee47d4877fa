internal import APNsWire
internal import ContentPreviews
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import GrandstandService
internal import Hummingbird

/// Broadcasts: accepted durably, read back at any time.
struct BroadcastRoutes: Sendable {
    let apps: any AppStore
    let events: any EventStore
    let channels: any ChannelStore
    let outbox: any Outbox
    let intake: Intake
    let now: @Sendable () -> Date

    var routes: [Route] {
        [
            Route(.broadcast, accept),
            Route(.previewBroadcast, preview),
            Route(.broadcastMany, bodyLimit: BroadcastBatch.maximumBytes, prepare: prepareBatch),
            Route(.broadcastToChannel, acceptForChannel),
            Route(.listBroadcasts, list),
            Route(.getBroadcast, get),
            Route(.cancelBroadcast, cancel),
        ]
    }

    private func accept(_ request: Request, _ context: APIContext) async throws -> Response {
        let key = try context.eventKey()
        let broadcast = try BroadcastRequest(body: try await request.json())
        let wanted = BroadcastIntake(.event(key), request: broadcast, by: context.actor, within: context.reach)
        return .json(try await intake.accept(wanted), status: .accepted)
    }

    /// Says what `accept` would do, and does not.
    private func preview(_ request: Request, _ context: APIContext) async throws -> Response {
        let key = try context.eventKey()
        let broadcast = try BroadcastRequest(body: try await request.json())
        let rehearsal = try await intake.rehearse(
            BroadcastIntake(.event(key), request: broadcast, by: context.actor, within: context.reach))
        var previews: [BundleID: ContentPreview] = [:]
        for bundleID in Set(rehearsal.parts.map(\.audience.bundleID)) {
            previews[bundleID] = try await apps.app(bundleID)?.preview.map(ContentPreview.init)
        }
        return .json(BroadcastRehearsalView(rehearsal: rehearsal, previews: previews))
    }

    private func prepareBatch(_ request: Request, _ context: APIContext) async throws -> Route.Prepared {
        let batch = try BroadcastBatch(
            body: try await request.json(upTo: BroadcastBatch.maximumBytes), by: context.actor)
        return Route.Prepared(turn: intake.turn(for: batch.items.count)) { try await accept(batch, context) }
    }

    private func accept(_ batch: BroadcastBatch, _ context: APIContext) async throws -> Response {
        var results: [Result<Broadcast, Problem>?] = batch.items.map { item in
            if case .failure(let problem) = item { .failure(problem) } else { nil }
        }
        var wanted: [(place: Int, intake: BroadcastIntake)] = []
        for (place, item) in batch.items.enumerated() {
            guard case .success(var intake) = item else { continue }
            intake.reach = context.reach
            wanted.append((place, intake))
        }
        let accepted = try await intake.accept(wanted.map(\.intake))
        for ((place, _), result) in zip(wanted, accepted) {
            results[place] = result.mapError { $0.within("/items/\(place)") }
        }
        let response = Response.json(
            BroadcastBatchView(results: results.compactMap(\.self), requestID: context.requestID), status: .accepted)
        let isAccepted = results.contains { if case .success? = $0 { true } else { false } }
        guard isAccepted else { throw WithoutEffect(response: response) }
        return response
    }

    private func acceptForChannel(_ request: Request, _ context: APIContext) async throws -> Response {
        let channel = try await channel(context)
        let broadcast = try BroadcastRequest(body: try await request.json())
        guard broadcast.audiences == nil else {
            throw Problem.invalid("A channel is one audience.", at: "/audiences", "Leave audiences out here.")
        }
        guard broadcast.byVariant.isEmpty else {
            throw Problem.invalid(
                "A channel that belongs to no event has no variant.", at: "/byVariant", "Leave byVariant out here.")
        }
        let wanted = BroadcastIntake(
            .channel(channel.id), request: broadcast, by: context.actor, within: context.reach)
        return .json(try await intake.accept(wanted), status: .accepted)
    }

    /// The channel a request may send to by itself.
    private func channel(_ context: APIContext) async throws -> Channel {
        let channel = try await channels.recorded(
            try context.id(orThrow: .channelNotFound), of: try context.app(), among: apps)
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

    private func list(_ request: Request, _ context: APIContext) async throws -> Response {
        let page = try context.query.page()
        let isScheduled = try context.query.flag("scheduled")
        let event = try await events.declared(try context.eventKey(), within: context.reach, now: now())
        if isScheduled {
            return .json(try await outbox.scheduled(of: event.specification.key, within: context.reach, page))
        }
        return .json(try await outbox.broadcasts(of: event.specification.key, within: context.reach, page))
    }

    private func get(_ request: Request, _ context: APIContext) async throws -> Response {
        return .json(try await broadcast(context))
    }

    private func cancel(_ request: Request, _ context: APIContext) async throws -> Response {
        let id = try context.id(orThrow: .broadcastNotFound)
        let withdrawal = try await outbox.cancel(id, within: context.reach, by: context.actor, now: now())
        guard let isWithdrawn = withdrawal else { throw Problem.broadcastNotFound(id) }
        guard isWithdrawn else {
            throw Problem(
                .broadcastSent,
                "APNs took something of this broadcast or may have, or its time ran out; it cannot be withdrawn. "
                    + "Send a newer update instead.")
        }
        return .noContent
    }

    private func broadcast(_ context: APIContext) async throws -> Broadcast {
        let id = try context.id(orThrow: .broadcastNotFound)
        guard let broadcast = try await outbox.broadcast(id, within: context.reach), broadcast.recipient == nil else {
            throw Problem.broadcastNotFound(id)
        }
        return broadcast
    }
}

extension Problem {
    fileprivate static func broadcastNotFound(_ id: UUID) -> Problem {
        Problem(.broadcastNotFound, "There is no broadcast \(id.uuidString.lowercased()).")
    }
}
