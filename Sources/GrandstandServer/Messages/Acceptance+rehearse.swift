internal import APNsWire
internal import FoundationEssentials
internal import Grandstand

extension Acceptance {
    /// The outcome that `add` would have, computed on a value that is not written back.
    ///
    /// - Parameter notBefore: the earliest time at which the broadcast is sent.
    mutating func rehearse(
        _ intake: BroadcastIntake, at now: Date, notBefore: Date? = nil, plan: DeliveryPlanning
    ) throws(Problem) -> BroadcastRehearsal {
        let unchanged = self
        let broadcast = try add(intake, at: now, plan: plan)
        let goesAt = broadcast.sendAt ?? notBefore ?? now
        let decided = try unchanged.decide(intake, at: goesAt, plan)
        let timestamp = Int(goesAt.timeIntervalSince1970)
        let parts = decided.items.map { decision in
            let (item, lane) = (decision.item, lanes[decision.place])
            return BroadcastRehearsal.Part(
                audience: item.audience, kind: lane.kind, payload: item.payload, priority: item.priority,
                apnsExpiration: item.apnsExpiration, bytes: item.payload.body(timestamp: timestamp).count,
                replaces: Self.replaced(unchanged.lanes[decision.place], lane))
        }
        return BroadcastRehearsal(
            event: broadcast.event, goesAt: goesAt, isScheduled: broadcast.isScheduled,
            expiresAt: decided.plan.expiresAt, warnings: broadcast.warnings, parts: parts)
    }

    /// The outcome that `tell` would have, computed on a value that is not written back.
    mutating func rehearse(
        _ intake: StateIntake, at now: Date, plan: DeliveryPlanning
    ) throws(Problem) -> StateRehearsal {
        let decision = try decide(intake, at: now)
        guard let request = decision.request else { return StateRehearsal(outcome: decision.outcome) }
        var broadcast = try rehearse(
            BroadcastIntake(intake.target, request: request, by: intake.actor, within: intake.reach), at: now,
            notBefore: decision.notBefore, plan: plan)
        broadcast.warnings += decision.warnings
        return StateRehearsal(
            outcome: decision.outcome, rule: decision.rule, goesAt: broadcast.goesAt, broadcast: broadcast)
    }

    /// The broadcasts that waited on the lane and that the new broadcast superseded.
    private static func replaced(_ before: Lane, _ after: Lane) -> [UUID] {
        let waiting = Set(before.pending.map(\.broadcast))
        return after.messages.filter { $0.state == .superseded && waiting.contains($0.broadcast) }.map(\.broadcast)
    }
}
