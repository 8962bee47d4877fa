internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import JSON

/// The operations on broadcasts and states that routes and pages share. Each is planned by the pure `DeliveryPlan`, and is
/// committed before the caller gets an answer.
extension API {
    /// Accepts a broadcast durably.
    ///
    /// - Throws: the `Problem` that refuses the broadcast; after a refusal, nothing was changed.
    func accept(_ request: BroadcastRequest, for target: BroadcastTarget, _ caller: Caller) async throws
        -> Contract.Broadcast
    {
        let results = try await stores.outbox.accept([Intake(target, .broadcast(request), caller)], now: now())
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
        try await stores.outbox.tell(Intake(.event(key), .state(report), caller), now: now())
    }

    /// Returns what `accept` would do, and changes nothing.
    ///
    /// - Throws: the errors of `accept`.
    func preview(
        _ request: BroadcastRequest, for key: EventKey, _ caller: Caller
    ) async throws -> Contract.BroadcastPreview {
        var preview = try await stores.outbox.rehearse(
            request, Intake(.event(key), .broadcast(request), caller), now: now())
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
        var (state, broadcast) = try await stores.outbox.rehearse(
            report, Intake(.event(key), .state(report), caller), now: now())
        try await render(&state.audiences)
        broadcast?.audiences = state.audiences
        return (state, broadcast)
    }

    /// Adds what lock screens would show, by the apps' templates.
    private func render(_ audiences: inout [Contract.AudiencePreview]) async throws {
        for name in Set(audiences.map(\.bundleId)) {
            guard let bundleID = BundleID(rawValue: name),
                let template = try await stores.apps.app(bundleID)?.value.preview.map(ContentPreview.init)
            else { continue }
            for index in audiences.indices where audiences[index].bundleId == name {
                let content = try? audiences[index].payload.value["aps"]?["content-state"]?.bytes
                audiences[index].preview = template.shown(content)
            }
        }
    }

    /// Withdraws a broadcast that was sent to nobody yet.
    ///
    /// - Throws: `broadcast-not-found`, `broadcast-sent`.
    func withdraw(_ id: UUID, _ caller: Caller) async throws {
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
    static func broadcastNotFound(_ id: UUID) -> Problem {
        Problem(.broadcastNotFound, "There is no broadcast \(id.words).")
    }
}
