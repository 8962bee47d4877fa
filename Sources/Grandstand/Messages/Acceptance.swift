internal import APNsWire
package import FoundationEssentials
package import GrandstandContract

/// A batch of broadcasts, decided in memory after the rows are locked and before all results are written together.
///
/// Items are decided in order, and each item sees the effects of the earlier items: after an `end`, the next item finds
/// that the event is over.
package struct Acceptance: Sendable {
    /// The state of a target, as far as the next item depends on it.
    package struct TargetState: Sendable, Equatable {
        package var isOver: Bool
        /// For an event: the time of its first update, with which it becomes live.
        package var startedAt: Date?
        /// For an event: the defaults of its messages.
        package var defaults = Contract.EventDefaults()
        /// For an event: its times.
        package var startsAt, endsAt: Date?
        /// For an event: the last sequence of its states, and the time of its last quiet message.
        package var stateProgress = StateDecision.Progress()
        /// The indices of the target's lanes, in the order of the event's audiences; a channel has one lane.
        package var laneIndices: [Int] = []

        package init(isOver: Bool, laneIndices: [Int] = []) { (self.isOver, self.laneIndices) = (isOver, laneIndices) }
    }

    /// A broadcast on which later messages of its lanes depend.
    package struct Basis: Sendable {
        let draft: Contract.BroadcastDraft
        let acceptedAt: Date
        /// The index of the ring rule because of which the broadcast, made from a state, has an alert.
        let ringRule: Int?
        /// The lanes whose message of this broadcast Apple never took.
        let lostLanes: Set<Int>

        package init(draft: Contract.BroadcastDraft, acceptedAt: Date, ringRule: Int?, lost: Set<Int> = []) {
            (self.draft, self.acceptedAt, self.ringRule, self.lostLanes) = (draft, acceptedAt, ringRule, lost)
        }
    }

    /// The content types of lanes.
    package struct ContentTypes: Sendable {
        package var byLane: [Int: ContentType] = [:]
        /// The names of content types that lanes' audiences have but their apps do not have.
        package var missing: [Int: String] = [:]

        package init() {}
    }

    /// When the batch is decided; an item may have arrived a little earlier than that.
    package let now: Date
    /// Seconds after which an alert is too old, unless the request says how long its content is worth sending.
    let alertFreshness: TimeInterval
    let loadedTargets: [BroadcastTarget: TargetState]
    private(set) var targets: [BroadcastTarget: TargetState]
    /// Every lane of the targets as it was loaded, in order of the lanes' IDs.
    let loaded: [Lane]
    /// The lanes of `loaded`, as the items that were decided so far have changed them.
    package private(set) var lanes: [Lane]
    /// The IDs of lanes whose audiences have activities with tokens.
    let tokenLanes: Set<Int>
    let types: ContentTypes
    /// The broadcasts on which messages depend; they are only read if a state or a message needs them. Those that were
    /// accepted here are among them.
    private(set) var basis: [UUID: Basis]
    /// Lanes of audiences whose channels cannot be made, because Apple or the quota has no room for another channel.
    let lanesWithoutPlace: Set<Int>
    package private(set) var broadcasts: [Intake] = []
    /// The messages that lanes took, in order of acceptance, as indices of `lanes` and `Lane.messages`. The messages of
    /// one broadcast are in the order of its event's audiences.
    package private(set) var accepted: [(index: Int, message: Int)] = []
    /// The results of states, for the counters.
    package private(set) var occurrences: [Occurrence] = []

    package init(
        of targets: [BroadcastTarget: TargetState], _ lanes: [Lane], tokenLanes: Set<Int>,
        types: ContentTypes, basis: [UUID: Basis], lanesWithoutPlace: Set<Int>,
        alertFreshness: TimeInterval, now: Date
    ) {
        (loadedTargets, self.targets, loaded, self.lanes) = (targets, targets, lanes, lanes)
        (self.tokenLanes, self.types, self.basis, self.lanesWithoutPlace) = (
            tokenLanes, types, basis, lanesWithoutPlace
        )
        (self.alertFreshness, self.now) = (alertFreshness, now)
    }

    /// Decides one item; a refusal changes nothing.
    ///
    /// - Returns: its broadcast; `nil`: the item is a state that has nothing new.
    package mutating func decide(_ intake: Intake) throws(Problem) -> Contract.Broadcast? {
        if let report = intake.report { try put(report, intake) } else { try accept(intake) }
    }

    /// Accepts a composed broadcast, or what the decision about a state sends.
    package mutating func accept(_ intake: Intake) throws(Problem) -> Contract.Broadcast {
        var intake = intake
        let (now, target, state) = (intake.at, intake.target, intake.decision)
        let event = targets[target]
        if let event { intake.sendAt = try intake.request.sendAt(startsAt: event.startsAt, of: target) }
        let sendAt = intake.sendAt.flatMap { $0 > now ? $0 : nil }
        let plan = try plan(intake, at: sendAt ?? now)
        // By reporting an activity with a token, a stranger can make an event have tokens. So a message that is too
        // long for tokens must still go to the channel.
        let refusals = plan.items.compactMap(\.refusal)
        if refusals.count == plan.items.count, let refusal = refusals.first { throw refusal }
        // Variants are checked only here, when the broadcast is accepted. A variant may be removed before a scheduled
        // broadcast is sent. Then this variant is left out, and the rest of the broadcast is sent.
        let all = audiences(of: targets[target]?.laneIndices ?? [])
        try Variant.require((intake.request.byVariant ?? [:]).keys, among: all.map(\.id))
        // Lists and histories are ordered by the time of acceptance, so the broadcasts of one transaction get rising
        // times. The database keeps microseconds.
        intake.at = self.now.addingTimeInterval(Double(broadcasts.count) / 1_000_000)
        let deliveries = try sendAt == nil ? enqueue(intake, plan, begins: intake.at) : []
        intake.warnings =
            (state?.warnings ?? [])
            + intake.request.warnings(at: now, endsAt: event?.endsAt, sendAt: intake.sendAt) + plan.warnings
            + DeliveryPlan.warnings(tooLongForTokens: refusals)
        // A scheduled broadcast gets the defaults that its event has when the broadcast is sent.
        intake.request = sendAt.map { [request = intake.request] in request.fitted(at: $0).draft } ?? plan.draft
        (intake.isScheduled, intake.plan) = (sendAt != nil, plan)
        broadcasts.append(intake)
        var broadcast = Contract.Broadcast(
            id: intake.id.text, eventKey: target.eventKey?.rawValue, event: plan.draft.event, state: .scheduled,
            acceptedAt: intake.at, sendAt: sendAt.flatMap { $0 < Date.undated ? $0 : nil },
            afterStart: intake.request.afterStart, by: intake.actor.text, counts: [:], deliveries: [],
            warnings: intake.warnings, source: target.eventKey == nil ? nil : state == nil ? .broadcast : .state,
            outcome: state?.outcome, rule: state?.rule)
        if sendAt == nil { broadcast.set(deliveries, isScheduled: false, isCancelled: false) }
        return broadcast
    }

    /// Sends a broadcast that was accepted earlier and whose time has come, with its event's defaults. If tokens came after
    /// the acceptance and the message is too large for them, the message is still sent to the channel. Where newer
    /// content was accepted after the broadcast, the message takes that content (`newer`).
    package mutating func sendScheduled(_ intake: inout Intake) throws(Problem) {
        // A broadcast to all audiences goes only to apps that its key could access when the broadcast was accepted.
        if intake.request.audiences == nil, intake.reach != .all, intake.target.eventKey != nil {
            var reached: [Contract.AudienceSelector] = []
            for audience in audiences(of: targets[intake.target]?.laneIndices ?? []) {
                let app: Contract.AudienceSelector = .init(
                    bundleId: audience.bundleID.rawValue, environment: .init(audience.environment))
                if intake.reach.covers(audience.bundleID), !reached.contains(app) { reached.append(app) }
            }
            guard !reached.isEmpty else {
                throw Problem(
                    .eventNotFound, "The event no longer has an audience that the broadcast's API key may send to.")
            }
            intake.request.audiences = reached
        }
        intake.reach = .all
        let plan = try plan(intake, at: now)
        _ = try enqueue(intake, plan, begins: max(intake.at, intake.sendAt ?? now))
        intake.request = plan.draft
    }

    /// The content that a message takes instead of its own: content that was accepted after the message. So a message
    /// that waited for its time shows no old score. An update without content takes the newest there is.
    ///
    /// - Returns: the content's broadcast and its bytes; `nil`: the message's own content is sent, because none is
    ///   newer, or because the newer one is too long together with the alert.
    private func newer(for message: LaneMessage, at index: Int, _ acceptedAt: Date) -> (broadcast: UUID, bytes: Int)? {
        let lane = lanes[index]
        guard let id = lane.newest, let newest = basis[id] else { return nil }
        let content = newest.draft.payload(for: lane.audience.variant)
        guard let state = content.contentState else { return nil }
        let bytes = state.count + (content.relevanceScore?.count ?? 0)
        if !message.hasContent { return message.isEnd ? nil : (id, bytes) }
        let fits = bytes + (message.alertBytes ?? 0) <= Lane.bytesForContentAndAlert(message.kind)
        return newest.acceptedAt > acceptedAt && fits ? (id, bytes) : nil
    }

    /// - Returns: the messages to lanes; the plan's request has its event's defaults.
    func plan(_ intake: Intake, at time: Date) throws(Problem) -> DeliveryPlan {
        let target = try target(of: intake)
        let (all, open) = (target.laneIndices, target.laneIndices.filter { lanes[$0].fencedAt == nil })
        // A selector must not match only audiences that already got an `end`.
        let isEndedOnly = intake.request.audiences?.contains { selector in
            audiences(of: all).contains { selector.matches($0.id) }
                && !audiences(of: open).contains { selector.matches($0.id) }
        }
        guard !target.isOver, !open.isEmpty || all.isEmpty, isEndedOnly != true else { throw intake.target.over }
        let recipients = open.flatMap { index in
            kinds(of: lanes[index]).map { kind in
                DeliveryPlan.Item(
                    lanes[index].audience, lane: index, kind: kind, type: types.byLane[lanes[index].id],
                    missingType: types.missing[lanes[index].id])
            }
        }
        var plan = try DeliveryPlan(
            intake.request, by: target.defaults, to: recipients, now: time, alertFreshness: alertFreshness)
        if plan.draft.audiences == nil { plan.warn(ended: audiences(of: all.filter { !open.contains($0) })) }
        let unserved = plan.items.filter { $0.kind == .channel && lanesWithoutPlace.contains(lanes[$0.lane].id) }
        plan.warn(withoutPlace: unserved.map(\.audience))
        return plan
    }

    private func target(of intake: Intake) throws(Problem) -> TargetState {
        guard let target = targets[intake.target],
            intake.reach.covers(event: intake.target.eventKey, of: audiences(of: target.laneIndices).map(\.bundleID))
        else { throw intake.target.absent }
        return target
    }

    private func audiences(of laneIndices: [Int]) -> [Audience] { laneIndices.map { lanes[$0].audience } }

    /// - Returns: the broadcast that was made from the state; `nil`: the state has nothing new.
    private mutating func put(_ report: Contract.StateDraft, _ intake: Intake) throws(Problem) -> Contract.Broadcast? {
        let (decision, reached) = try decide(report, intake)
        var broadcast: Contract.Broadcast?
        if let request = decision.request {
            var decided = intake
            (decided.request, decided.decision) = (request, decision)
            broadcast = try accept(decided)
        }
        let id = broadcast?.uuid
        for index in reached {
            // A message that was refused, because it is too long, has the state, too. Without a message, the newest
            // content is the same as the state.
            let message = lanes[index].messages.last { $0.broadcast == id }
            lanes[index].lastState = message?.broadcast ?? lanes[index].newest
            if !decision.muted.isEmpty { lanes[index].silence(decision.muted, at: intake.at) }
        }
        targets[intake.target]?.stateProgress = decision.stateProgress
        occurrences.append(.newState(decision.outcome, saved: broadcast == nil ? decision.audienceCount : 0))
        return broadcast
    }

    /// - Returns: the decision, and the audiences that the state is for: those that are not over, or else all that the
    ///   state names.
    /// - Throws: `event-not-found`, `event-ended`, `stale-state`; `invalid-request` for audiences and variants that
    ///   the event lacks.
    private func decide(
        _ report: Contract.StateDraft, _ intake: Intake
    ) throws(Problem) -> (StateDecision, reached: [Int]) {
        let target = try target(of: intake)
        let ids = audiences(of: target.laneIndices).map(\.id)
        try report.audiences?.require(among: ids)
        try Variant.require((report.byVariant ?? [:]).keys, among: ids)
        let selected = target.laneIndices.filter { index in
            report.audiences?.contains { $0.matches(lanes[index].audience.id) } ?? true
        }
        let open = target.isOver ? [] : selected.filter { lanes[$0].fencedAt == nil }
        let (reached, isOver) = open.isEmpty ? (selected, true) : (open, false)
        let decision = try StateDecision(
            report,
            to: reached.map { index in
                let lane = lanes[index]
                var target = StateDecision.TargetAudience(
                    audience: lane.audience.id, type: types.byLane[lane.id], newest: content(of: lane.newest, index),
                    isTypeUnknown: types.missing[lane.id] != nil)
                if lane.lastState != lane.newest { target.lastState = content(of: lane.lastState, index) }
                if !isOver, lane.newest.flatMap({ basis[$0] })?.lostLanes.contains(lane.id) == true {
                    target.lastState = target.lastState ?? target.newest
                    target.newest = nil
                }
                target.waitingAlerts = waitingRings(of: index)
                return target
            }, isOver: isOver, progress: target.stateProgress, now: intake.at)
        // Audiences that are over accept only a repetition of their last state: the content is unchanged, and the state
        // is final or has the last sequence.
        let isRepeated = report.isFinal || report.sequence != nil && report.sequence == target.stateProgress.sequence
        guard !isOver || decision.request == nil && isRepeated else { throw intake.target.over }
        return (decision, reached)
    }

    /// The content of a broadcast, as the audience of a lane gets it.
    private func content(of broadcast: UUID?, _ index: Int) -> [UInt8]? {
        broadcast.flatMap { basis[$0] }?.draft.payload(for: lanes[index].audience.variant).contentState
    }

    /// The alerts of states that wait for an audience.
    private func waitingRings(of index: Int) -> [StateDecision.Ring] {
        lanes[index].pending.filter(\.hasAlert).compactMap { message in
            guard let rule = basis[message.broadcast]?.ringRule, let state = content(of: message.broadcast, index),
                let before = content(of: message.contentBefore, index)
            else { return nil }
            return (message.broadcast, rule, before, state)
        }
    }

    /// Who gets the messages of a lane: the channel, and the tokens if there are any or if a message to them waits. If
    /// the audience is reached by tokens only, they get each message.
    private func kinds(of lane: Lane) -> [Contract.DeliveryKind] {
        guard lane.audience.delivery == .channel else { return [.tokens] }
        return tokenLanes.contains(lane.id) || !lane.queue(.tokens).isEmpty ? [.channel, .tokens] : [.channel]
    }

    /// - Parameter time: when the broadcast was accepted or, if it was scheduled, its `sendAt`. An event that is not
    ///   live yet becomes live at this time.
    private mutating func enqueue(
        _ intake: Intake, _ plan: DeliveryPlan, begins time: Date
    ) throws(Problem) -> [Contract.Delivery] {
        let (target, acceptedAt) = (intake.target, intake.at)
        let deliveries = plan.items.compactMap { item -> Contract.Delivery? in
            let index = item.lane
            var message = plan.message(of: intake.id, to: item)
            // The order of messages that were not scheduled is that of the locks.
            let other = newer(for: message, at: index, time > acceptedAt ? acceptedAt : .distantFuture)
            guard message.isEnd || message.hasContent || other != nil else { return nil }
            if let other {
                (message.hasContent, message.contentOf, message.contentBytes) = (false, other.broadcast, other.bytes)
            }
            (message.requestID, message.nextAttemptAt) = (.drawn(), intake.decision?.notBefore)
            lanes[index].accept(message, isTooLarge: item.refusal != nil, at: now)
            accepted.append((index, lanes[index].messages.count - 1))
            return lanes[index].messages.last.map { Contract.Delivery($0, item.audience) }
        }
        guard !deliveries.isEmpty || plan.items.isEmpty else {
            throw Problem.invalid(
                "contentState was left out, and there is no content yet that the update could be sent with.",
                at: "/contentState", "Give contentState, or send a state before.")
        }
        basis[intake.id] = Basis(draft: plan.draft, acceptedAt: acceptedAt, ringRule: intake.decision?.rule)
        if plan.draft.event != .end {
            if targets[target]?.startedAt == nil { targets[target]?.startedAt = time }
        } else if targets[target]?.laneIndices.allSatisfy({ lanes[$0].fencedAt != nil }) == true {
            // Each audience has got an `end`.
            targets[target]?.isOver = true
        }
        return deliveries
    }
}
