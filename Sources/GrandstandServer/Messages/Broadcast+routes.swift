internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import Hummingbird

/// The routes of broadcasts: accept durably, list, read, withdraw.
struct BroadcastRoutes: Sendable {
    let apps: any AppStore
    let channels: any ChannelStore
    let broadcasts: BroadcastOperations
    let intake: Intake

    var routes: [Route] {
        [
            Route(.broadcast) { request, context in
                let key = try context.eventKey()
                let broadcast = try BroadcastRequest(body: try await request.json())
                let accepted = try await broadcasts.accept(broadcast, for: key, context.caller)
                return .json(Contract.Broadcast(accepted), status: .accepted)
            },
            Route(.previewBroadcast) { request, context in
                let key = try context.eventKey()
                let broadcast = try BroadcastRequest(body: try await request.json())
                let preview = try await broadcasts.preview(broadcast, for: key, context.caller)
                return .json(Contract.BroadcastPreview(preview))
            },
            Route(.broadcastMany, bodyLimit: BroadcastBatch.maximumBytes, prepare: prepareBatch),
            Route(.broadcastToChannel, acceptForChannel),
            Route(.listBroadcasts) { _, context in
                let page = try context.query.page()
                let isScheduled = try context.query.flag("scheduled")
                let broadcasts = try await broadcasts.list(
                    of: try context.eventKey(), isScheduled: isScheduled, page, context.caller)
                return .json(Contract.Page(broadcasts, Contract.Broadcast.init))
            },
            Route(.getBroadcast) { _, context in
                let id = try context.id(orThrow: .broadcastNotFound)
                return .json(Contract.Broadcast(try await broadcasts.broadcast(id, context.caller)))
            },
            Route(.cancelBroadcast) { _, context in
                try await broadcasts.cancel(try context.id(orThrow: .broadcastNotFound), context.caller)
                return .noContent
            },
        ]
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
        let answer = Contract.BroadcastBatchResult(results.compactMap(\.self), requestID: context.requestID)
        let response = Response.json(answer, status: .accepted)
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
        return .json(Contract.Broadcast(try await intake.accept(wanted)), status: .accepted)
    }

    /// The channel in the path, if a request may send to it directly: it is active, and no event owns it.
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
}
