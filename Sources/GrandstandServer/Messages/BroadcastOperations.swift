internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import JSON

/// The operations on broadcasts and states. Each is planned by the pure `DeliveryPlan`, and is committed before the caller
/// gets an answer.
struct BroadcastOperations: Sendable {
    let apps: AppStore
    let events: EventStore
    let outbox: Outbox
    let now: @Sendable () -> Date

    /// Accepts a broadcast durably.
    ///
    /// - Throws: the `Problem` that refuses the broadcast; after a refusal, nothing was changed.
    func accept(_ request: BroadcastRequest, for target: BroadcastTarget, _ caller: Caller) async throws
        -> Contract.Broadcast
    {
        let results = try await outbox.accept([Intake(target, .broadcast(request), caller)], now: now())
        guard let result = results.first else {
            throw Problem(.internalError, "The outbox answered nothing for the broadcast.")
        }
        return try result.get()
    }

    /// Decides what a reported state of an event sends, and accepts it durably.
    ///
    /// - Returns: the broadcast with the new state; `nil`: nothing has changed.
    /// - Throws: the `Problem` that refuses the state; after a refusal, nothing was changed.
    func tell(_ report: StateReport, of key: EventKey, _ caller: Caller) async throws -> Contract.Broadcast? {
        try await outbox.tell(Intake(.event(key), .state(report), caller), now: now())
    }

    /// Returns what `accept` would do, and changes nothing.
    ///
    /// - Throws: the errors of `accept`.
    func preview(
        _ request: BroadcastRequest, for key: EventKey, _ caller: Caller
    ) async throws -> Contract.BroadcastPreview {
        var preview = try await outbox.rehearse(request, Intake(.event(key), .broadcast(request), caller), now: now())
        try await render(&preview.audiences)
        return preview
    }

    /// Returns what `tell` would do, and changes nothing.
    ///
    /// - Returns: the preview of the state, and that of its broadcast; `nil`: nothing would be sent.
    /// - Throws: the errors of `tell`.
    func preview(
        _ report: StateReport, of key: EventKey, _ caller: Caller
    ) async throws -> (state: Contract.StatePreview, broadcast: Contract.BroadcastPreview?) {
        var (state, broadcast) = try await outbox.rehearse(
            report, Intake(.event(key), .state(report), caller), now: now())
        try await render(&state.audiences)
        broadcast?.audiences = state.audiences
        return (state, broadcast)
    }

    /// Adds what lock screens would show, by the apps' templates.
    private func render(_ audiences: inout [Contract.AudiencePreview]) async throws {
        for name in Set(audiences.map(\.bundleId)) {
            guard let bundleID = BundleID(rawValue: name),
                let template = try await apps.app(bundleID)?.value.preview.map(ContentPreview.init)
            else { continue }
            for index in audiences.indices where audiences[index].bundleId == name {
                let content = try? audiences[index].payload.value["aps"]?["content-state"]?.bytes
                audiences[index].preview = template.shown(content)
            }
        }
    }

    /// - Parameter isScheduled: `true`: only broadcasts that wait for their send time.
    /// - Throws: `event-not-found`, `forbidden`.
    func list(
        of key: EventKey, isScheduled: Bool, _ page: PageRequest, _ caller: Caller
    ) async throws -> Page<Contract.Broadcast> {
        _ = try await events.declared(key, within: caller.reach, now: now())
        return isScheduled
            ? try await outbox.scheduled(of: key, within: caller.reach, page)
            : try await outbox.broadcasts(of: key, within: caller.reach, page)
    }

    /// - Throws: `broadcast-not-found`.
    func broadcast(_ id: UUID, _ caller: Caller) async throws -> Contract.Broadcast {
        guard let broadcast = try await outbox.broadcast(id, within: caller.reach) else {
            throw Problem.broadcastNotFound(id)
        }
        return broadcast
    }

    /// Withdraws a broadcast that was sent to nobody yet.
    ///
    /// - Throws: `broadcast-not-found`, `broadcast-sent`.
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
