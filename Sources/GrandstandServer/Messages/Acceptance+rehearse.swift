internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract

extension Acceptance {
    /// The outcome that `add` would have, computed on a value that is not written back. The preview reserves nothing, so
    /// other broadcasts may be sent before the real one.
    ///
    /// - Parameter notBefore: the earliest time at which the broadcast is sent.
    mutating func rehearse(
        _ request: BroadcastRequest, _ intake: Intake, at now: Date, notBefore: Date? = nil
    ) throws(Problem) -> Contract.BroadcastPreview {
        let unchanged = self
        let broadcast = try add(request, intake, at: now)
        let goesAt =
            broadcast.state == .scheduled ? broadcast.sendAt ?? EventSpecification.undated : notBefore ?? now
        let (_, plan) = try unchanged.decide(request, intake, at: goesAt)
        return Contract.BroadcastPreview(
            event: broadcast.event, goesAt: goesAt, isScheduled: broadcast.state == .scheduled,
            expiresAt: plan.expiresAt,
            audiences: plan.items.map { item in
                Contract.AudiencePreview(
                    item, lanes[item.place].kind, at: goesAt,
                    replacing: Self.replaced(unchanged.lanes[item.place], lanes[item.place]))
            }, warnings: broadcast.warnings)
    }

    /// The outcome that `tell` would have, computed on a value that is not written back.
    ///
    /// - Returns: the preview of the state, and that of its broadcast; `nil`: nothing would be sent.
    mutating func rehearse(
        _ report: StateReport, _ intake: Intake, at now: Date
    ) throws(Problem) -> (state: Contract.StatePreview, broadcast: Contract.BroadcastPreview?) {
        let decision = try decide(report, intake, at: now)
        guard let request = decision.request else {
            return (Contract.StatePreview(outcome: decision.outcome, audiences: [], warnings: []), nil)
        }
        var broadcast = try rehearse(request, intake, at: now, notBefore: decision.notBefore)
        broadcast.warnings += decision.warnings
        let state = Contract.StatePreview(
            outcome: decision.outcome, rule: decision.rule, goesAt: broadcast.goesAt, audiences: broadcast.audiences,
            warnings: broadcast.warnings)
        return (state, broadcast)
    }

    /// The broadcasts that waited on the lane and that the new broadcast superseded.
    private static func replaced(_ before: Lane, _ after: Lane) -> [UUID] {
        let waiting = Set(before.pending.map(\.broadcast))
        return after.messages.filter { $0.state == .superseded && waiting.contains($0.broadcast) }.map(\.broadcast)
    }
}
