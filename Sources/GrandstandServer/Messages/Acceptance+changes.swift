internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract

/// What the decided items change, and what an item would change.
extension Acceptance {
    /// The outcome that `decide` would have, on a value that is not written back. The preview reserves nothing, so other
    /// broadcasts may be sent before the real one.
    ///
    /// - Returns: the broadcast and its preview; `nil`: nothing would be sent.
    mutating func rehearse(
        _ intake: Intake
    ) throws(Problem) -> (accepted: Contract.Broadcast, preview: Contract.BroadcastPreview)? {
        let before = lanes
        guard let broadcast = try decide(intake), let accepted = broadcasts.last, let plan = accepted.plan else {
            return nil
        }
        let goesAt = broadcast.state == .scheduled ? accepted.sendAt : accepted.decision?.notBefore
        let audiences = plan.items.map { item in
            let message = plan.message(of: accepted.id, to: item)
            let body = plan.request.payload(for: item.audience.variant).body(timestamp: (goesAt ?? intake.at).epoch)
            // The broadcasts that waited on the lane and that this one superseded.
            let replaced = zip(before[item.place].messages, lanes[item.place].messages).filter {
                $0.kind == item.kind && !$0.state.isSettled && $1.state == .superseded
            }
            return Contract.AudiencePreview(
                bundleId: item.audience.bundleID.rawValue, environment: .init(item.audience.environment),
                variant: item.audience.variant?.rawValue, kind: item.kind,
                priority: (item.kind == .tokens ? message.priority.ofDevicePush : message.priority).rawValue,
                apnsExpiration: message.apnsExpiration, bytes: body.count, limit: item.kind.bodyLimit,
                payload: RawJSON(unchecked: body), replaces: replaced.map(\.1.broadcast.words))
        }
        let preview = Contract.BroadcastPreview(
            event: broadcast.event, goesAt: goesAt ?? intake.at, isScheduled: broadcast.state == .scheduled,
            expiresAt: plan.expiresAt, audiences: audiences, warnings: broadcast.warnings)
        return (broadcast, preview)
    }

    /// The topics of the loops that must be woken after the commit; empty if nothing waits for a loop.
    var topics: Set<WakeTopic> {
        var topics = Set(changes.lanes.flatMap(\.topics))
        if broadcasts.contains(where: \.isScheduled) { topics.insert(.schedule) }
        if events.contains(where: \.ends) { topics.insert(.channels) }
        return topics
    }

    /// The events that changed, in the order of their keys, and whether they are over only now.
    var events: [(key: String, state: TargetState, ends: Bool)] {
        targets.compactMap { target, state -> (key: String, state: TargetState, ends: Bool)? in
            guard let key = target.eventKey?.rawValue, let before = loadedTargets[target], state != before else {
                return nil
            }
            return (key, state, state.isOver != before.isOver)
        }.sorted { $0.key < $1.key }
    }

    /// The lanes that changed, and the same lanes as they were loaded.
    var changes: (lanes: [Lane], loaded: [Lane]) {
        let places = lanes.indices.filter { lanes[$0] != loaded[$0] }
        return (places.map { lanes[$0] }, places.map { loaded[$0] })
    }
}
