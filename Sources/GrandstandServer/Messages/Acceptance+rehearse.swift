internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract

extension Acceptance {
    private mutating func adding(_ intake: Intake) throws(Problem) -> Contract.BroadcastPreview {
        let unchanged = self
        let broadcast = try add(intake)
        let goesAt =
            broadcast.state == .scheduled
            ? broadcast.sendAt ?? EventSpecification.undated : intake.decision?.notBefore ?? intake.at
        let plan = try unchanged.plan(intake, at: goesAt)
        return Contract.BroadcastPreview(
            event: broadcast.event, goesAt: goesAt, isScheduled: broadcast.state == .scheduled,
            expiresAt: plan.expiresAt,
            audiences: plan.items.map { item in
                Contract.AudiencePreview(
                    plan.message(of: intake.id, to: item), plan.request.payload(for: item.audience.variant),
                    to: item.audience, at: goesAt,
                    replacing: Self.replaced(unchanged.lanes[item.place], lanes[item.place], item.kind))
            }, warnings: broadcast.warnings)
    }

    /// The outcome that `decide` would have, computed on a value that is not written back. The preview reserves nothing, so
    /// other broadcasts may be sent before the real one.
    ///
    /// - Returns: the preview of the state, if it is one, and that of its broadcast; `nil`: nothing would be sent.
    mutating func rehearse(
        _ intake: Intake
    ) throws(Problem) -> (state: Contract.StatePreview?, broadcast: Contract.BroadcastPreview?) {
        guard let report = intake.report else { return (nil, try adding(intake)) }
        let (decision, _) = try decide(report, intake)
        guard let decided = intake.deciding(decision) else {
            return (Contract.StatePreview(outcome: decision.outcome, audiences: [], warnings: []), nil)
        }
        let broadcast = try adding(decided)
        let state = Contract.StatePreview(
            outcome: decision.outcome, rule: decision.rule, goesAt: broadcast.goesAt, audiences: broadcast.audiences,
            warnings: broadcast.warnings)
        return (state, broadcast)
    }

    /// The broadcasts that waited on the lane and that the new broadcast superseded.
    private static func replaced(_ before: Lane, _ after: Lane, _ kind: Contract.DeliveryKind) -> [UUID] {
        let waiting = Set(before.queue(kind).map(\.broadcast))
        return after.messages.filter {
            $0.kind == kind && $0.state == .superseded && waiting.contains($0.broadcast)
        }.map(\.broadcast)
    }
}
