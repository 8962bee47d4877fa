internal import FoundationEssentials
internal import Grandstand

/// The operations on broadcasts of events.
struct BroadcastOperations: Sendable {
    let apps: any AppStore
    let events: any EventStore
    let outbox: any Outbox
    let intake: Intake
    let now: @Sendable () -> Date

    /// Accepts a broadcast durably.
    ///
    /// - Throws: the errors of `Intake.accept`.
    func accept(_ request: BroadcastRequest, for key: EventKey, _ caller: Caller) async throws -> Broadcast {
        try await intake.accept(
            BroadcastIntake(.event(key), request: request, by: caller.actor, within: caller.reach))
    }

    /// Returns what `accept` would do, and changes nothing.
    ///
    /// - Throws: the errors of `accept`.
    func preview(
        _ request: BroadcastRequest, for key: EventKey, _ caller: Caller
    ) async throws -> RenderedRehearsal {
        let rehearsal = try await intake.rehearse(
            BroadcastIntake(.event(key), request: request, by: caller.actor, within: caller.reach))
        return try await rendered(rehearsal)
    }

    /// A preview with what lock screens would show, by the apps' templates.
    func rendered(_ rehearsal: BroadcastRehearsal) async throws -> RenderedRehearsal {
        var previews: [BundleID: ContentPreview] = [:]
        for bundleID in Set(rehearsal.parts.map(\.audience.bundleID)) {
            previews[bundleID] = try await apps.app(bundleID)?.preview.map(ContentPreview.init)
        }
        return RenderedRehearsal(rehearsal: rehearsal, previews: previews)
    }

    /// - Parameter isScheduled: `true`: only broadcasts that wait for their send time.
    /// - Throws: `event-not-found`, `forbidden`.
    func list(
        of key: EventKey, isScheduled: Bool, _ page: PageRequest, _ caller: Caller
    ) async throws -> Page<Broadcast> {
        let event = try await events.declared(key, within: caller.reach, now: now())
        return isScheduled
            ? try await outbox.scheduled(of: event.specification.key, within: caller.reach, page)
            : try await outbox.broadcasts(of: event.specification.key, within: caller.reach, page)
    }

    /// - Throws: `broadcast-not-found`, `forbidden`.
    func broadcast(_ id: UUID, _ caller: Caller) async throws -> Broadcast {
        guard let broadcast = try await outbox.broadcast(id, within: caller.reach) else {
            throw Problem.broadcastNotFound(id)
        }
        return broadcast
    }

    /// Withdraws a broadcast that was sent to nobody yet.
    ///
    /// - Throws: `broadcast-not-found`, `forbidden`, `broadcast-sent`.
    func cancel(_ id: UUID, _ caller: Caller) async throws {
        let withdrawal = try await outbox.cancel(id, within: caller.reach, by: caller.actor, now: now())
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
    fileprivate static func broadcastNotFound(_ id: UUID) -> Problem {
        Problem(.broadcastNotFound, "There is no broadcast \(id.words).")
    }
}
