internal import APNsWire
internal import FoundationEssentials
package import GrandstandContract

/// What the decided items change, and what an item would change.
extension Acceptance {
    /// The outcome that `decide` would have, on a value that is not written back. The preview reserves nothing, so other
    /// broadcasts may be sent before the real one.
    ///
    /// - Returns: the broadcast and its preview; `nil`: nothing would be sent.
    package mutating func rehearse(
        _ intake: Intake
    ) throws(Problem) -> (accepted: Contract.Broadcast, preview: Contract.BroadcastPreview)? {
        let before = lanes
        guard let broadcast = try decide(intake), let accepted = broadcasts.last, let plan = accepted.plan else {
            return nil
        }
        let goesAt = broadcast.state == .scheduled ? accepted.sendAt : accepted.decision?.notBefore
        let audiences = plan.items.map { item in
            let message = plan.message(of: accepted.id, to: item)
            let body = plan.draft.payload(for: item.audience.variant).body(timestamp: (goesAt ?? intake.at).epoch)
            // The broadcasts that waited on the lane and that this one superseded.
            let replaced = zip(before[item.lane].messages, lanes[item.lane].messages).filter {
                $0.kind == item.kind && !$0.state.isSettled && $1.state == .superseded
            }
            return Contract.AudiencePreview(
                bundleId: item.audience.bundleID.rawValue, environment: .init(item.audience.environment),
                variant: item.audience.variant?.rawValue, kind: item.kind,
                priority: (item.kind == .tokens ? message.priority.forDevicePush : message.priority).rawValue,
                apnsExpiration: message.apnsExpiration, bytes: body.count, limit: item.kind.bodyLimit,
                payload: RawJSON(unchecked: body), replaces: replaced.map(\.1.broadcast.text))
        }
        let preview = Contract.BroadcastPreview(
            event: broadcast.event, goesAt: goesAt ?? intake.at, isScheduled: broadcast.state == .scheduled,
            expiresAt: plan.expiresAt, audiences: audiences, warnings: broadcast.warnings)
        return (broadcast, preview)
    }

    /// The events that changed, in the order of their keys, and whether they are over only now.
    package var changedEvents: [(key: String, state: TargetState, ends: Bool)] {
        targets.compactMap { target, state -> (key: String, state: TargetState, ends: Bool)? in
            guard let key = target.eventKey?.rawValue, let before = loadedTargets[target], state != before else {
                return nil
            }
            return (key, state, state.isOver != before.isOver)
        }.sorted { $0.key < $1.key }
    }

    /// The lanes that changed, and the same lanes as they were loaded.
    package var changes: (lanes: [Lane], loaded: [Lane]) {
        let indices = lanes.indices.filter { lanes[$0] != loaded[$0] }
        return (indices.map { lanes[$0] }, indices.map { loaded[$0] })
    }
}
