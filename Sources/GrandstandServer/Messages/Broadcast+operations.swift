internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import JSON

/// The operations on broadcasts and states that routes and pages share. Each is planned by the pure `DeliveryPlan`, and is
/// committed before the caller gets an answer.
extension API {
    /// Returns what accepting a broadcast or telling a state would do, and changes nothing.
    ///
    /// - Returns: the preview of the state, if it is one, and that of its broadcast; `nil`: nothing would be sent.
    /// - Throws: the errors of accepting or telling it.
    func preview(
        _ intake: Intake
    ) async throws -> (state: Contract.StatePreview?, broadcast: Contract.BroadcastPreview?) {
        var (state, broadcast) = try await stores.outbox.rehearse(intake)
        if var audiences = broadcast?.audiences {
            try await render(&audiences)
            broadcast?.audiences = audiences
            state?.audiences = audiences
        }
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
    static let unansweredBroadcast = Problem(.internalError, "The outbox answered nothing for the broadcast.")

    static func broadcastNotFound(_ id: UUID) -> Problem {
        Problem(.broadcastNotFound, "There is no broadcast \(id.words).")
    }
}
