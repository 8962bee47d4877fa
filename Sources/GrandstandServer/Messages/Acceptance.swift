internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import Postgres

/// The outcome of a batch of broadcasts. The outcome is decided in memory, after the rows are locked and before all
/// results are written together.
///
/// Items are decided in order, and each item sees the effects of the earlier items: after an `end`, the next item finds
/// that the event is over.
struct Acceptance {
    /// The state of a target, as far as the next item depends on it.
    struct TargetState {
        var isOver: Bool
        /// For an event: whether the event is live already, because something was sent for it before.
        var isStarted = false
        /// For an event: the defaults of its messages.
        var defaults = Contract.EventDefaults()
        var times = EventTimes()
        /// For an event: the last sequence of its states, and the time of its last quiet message.
        var progress = StateDecision.Progress()
        /// The IDs of the target's lanes, in the order of the event's audiences; a channel has one lane.
        var lanes: [Int]
        /// The lead of each lane that follows another lane (`Lane.follow`), by the lane's ID.
        var leads: [Int: Int] = [:]
        /// Crowds' lanes that have members.
        var populated: Set<Int> = []
    }

    struct BroadcastRow {
        let id: UUID
        /// The request as it is stored: with the defaults of its event if it is sent now.
        let request: BroadcastRequest
        let intake: Intake
        let acceptedAt: Date
        let isScheduled: Bool
        let warnings: [String]
        /// The apps that the broadcast is for.
        let apps: [BundleID]
        /// The decision about the state that the broadcast was made from; `nil`: it was not made from a state.
        var state: StateDecision?
    }

    /// When the batch is decided; an item may have arrived a little earlier than that.
    let now: Date
    /// Seconds after which an alert is too old, unless the request says how long its content is worth sending.
    private let alertFreshness: TimeInterval
    private var targets: [BroadcastTarget: TargetState]
    /// Every lane of the targets as it was loaded, in order of the lanes' IDs.
    private let loaded: [Lane]
    /// The lanes of `loaded`, as the items that were decided so far have changed them.
    private(set) var lanes: [Lane]
    /// The index of each lane in `lanes`, by its ID. Such an index is a lane's place.
    private let places: [Int: Int]
    /// The lead of each lane that follows another lane; both are places. `followers` has the followers of each lead.
    private var leads: [Int: Int] = [:]
    private var followers: [Int: [Int]] = [:]
    /// Places of crowds' lanes that have members.
    private var populated: Set<Int> = []
    /// The content types of lanes. A crowd's lane has the type of its audience.
    private let types: ContentRows.Types
    /// The broadcasts on which messages depend; they are only read if a state or a message needs them. Those that were
    /// accepted here are among them.
    private var known: [UUID: ContentRows.Known]
    /// Lanes of audiences whose channels cannot be made, because Apple or the quota has no room for another channel.
    private let withoutPlace: Set<Int>
    private(set) var broadcasts: [BroadcastRow] = []
    /// The messages that lanes took, in order of acceptance. The messages of one broadcast are in the order of its
    /// event's audiences.
    private var accepted: [(place: Int, broadcast: UUID)] = []
    /// The events that become live, each with the time of the update that makes it live.
    private(set) var startedEvents: [String: Date] = [:]
    private(set) var endedEvents: Set<String> = []
    /// The progress of events for which states came.
    private(set) var progress: [String: StateDecision.Progress] = [:]
    /// The results of states, for the counters.
    private(set) var occurrences: [Occurrence] = []
    /// The payloads of scheduled broadcasts that are sent now (`promote`), filled with their events' defaults.
    private(set) var promoted: [UUID: BroadcastPayload] = [:]

    /// - Parameters:
    ///   - lanes: every lane of the targets, in order of the lanes' IDs.
    ///   - types: the content types of the lanes' audiences.
    ///   - broadcasts: what `ContentRows.newest` found, if a state or a message needs it.
    ///   - withoutPlace: the lanes whose channels cannot be made, because Apple or the quota has no room for another
    ///     channel.
    init(
        targets: [BroadcastTarget: TargetState], lanes: [Lane], types: ContentRows.Types = .init(),
        broadcasts: [UUID: ContentRows.Known] = [:], withoutPlace: Set<Int> = [],
        alertFreshness: TimeInterval = DeliveryPlan.alertFreshness, now: Date
    ) {
        self.alertFreshness = alertFreshness
        self.targets = targets
        self.types = types
        known = broadcasts
        self.withoutPlace = withoutPlace
        loaded = lanes
        self.lanes = lanes
        places = Dictionary(uniqueKeysWithValues: zip(lanes.lazy.map(\.id), lanes.indices))
        self.now = now
        for target in targets.values {
            populated.formUnion(target.populated.compactMap { places[$0] })
            for (lane, lead) in target.leads {
                guard let place = places[lane], let lead = places[lead] else { continue }
                leads[place] = lead
                followers[lead, default: []].append(place)
            }
        }
    }

    /// Decides one item that came at `now`; a refusal changes nothing.
    ///
    /// - Returns: its broadcast; `nil`: the item is a state that has nothing new.
    mutating func accept(_ intake: Intake, at now: Date) throws(Problem) -> Contract.Broadcast? {
        switch intake.content {
        case .broadcast(let request): try add(request, intake, at: now)
        case .state(let report): try tell(report, intake, at: now)
        }
    }

    /// - Parameter state: the decision about the state that the request was made from; `nil`: it was not made from one.
    mutating func add(
        _ request: BroadcastRequest, _ intake: Intake, at now: Date, state: StateDecision? = nil
    ) throws(Problem) -> Contract.Broadcast {
        let id = UUID.drawn()
        var request = request
        let times = targets[intake.target]?.times
        if let times { request = try request.timed(by: times, for: intake.target) }
        let sendAt = request.sendAt.flatMap { $0 > now ? $0 : nil }
        let (filled, plan) = try decide(request, intake, at: sendAt ?? now)
        // By reporting an activity with a token, a stranger can make an event have a crowd. So a message that is too
        // long for tokens must still go to the channel.
        let refused = plan.items.filter { $0.refusal != nil }
        if refused.count == plan.items.count, let refusal = refused.first?.refusal { throw refusal }
        // Variants are checked only here, when the broadcast is accepted. A variant may be removed before a scheduled
        // broadcast is sent. Then this variant is left out, and the rest of the broadcast is sent.
        if !request.byVariant.isEmpty {
            let all = (targets[intake.target]?.lanes ?? []).compactMap { places[$0] }
            try request.content.requireVariants(among: all.map { lanes[$0].audience.id })
        }
        // Lists and histories are ordered by `acceptedAt`, so the broadcasts of one transaction get rising times.
        let acceptedAt = max(now, broadcasts.last.map { $0.acceptedAt.addingTimeInterval(0.000_001) } ?? now)
            .inMicroseconds
        if sendAt == nil { try requireContent(plan) }
        let warnings =
            (state?.warnings ?? []) + request.warnings(at: now, times ?? EventTimes()) + plan.warnings
            + DeliveryPlan.warnings(tooLongForTokens: refused.compactMap(\.refusal))
        // A scheduled broadcast gets the defaults that its event has when the broadcast is sent.
        request = sendAt.map { request.fitted(at: $0).request } ?? filled
        broadcasts.append(
            BroadcastRow(
                id: id, request: request, intake: intake, acceptedAt: acceptedAt, isScheduled: sendAt != nil,
                warnings: warnings, apps: Set(plan.items.map(\.audience.bundleID)).sorted(), state: state))
        var broadcast = Contract.Broadcast(
            id: id.words, eventKey: intake.target.eventKey?.rawValue, event: .init(request.payload.event),
            state: .scheduled, acceptedAt: acceptedAt,
            sendAt: sendAt.flatMap { $0 < EventSpecification.undated ? $0 : nil }, afterStart: request.sendAfterStart,
            by: intake.actor.text, counts: [:], deliveries: [], warnings: warnings,
            source: intake.target.eventKey == nil ? nil : state == nil ? .broadcast : .state, outcome: state?.outcome,
            rule: state?.rule)
        if sendAt == nil {
            let deliveries = enqueue(
                id, plan, intake.target, acceptedAt: acceptedAt, begins: acceptedAt, state: state)
            broadcast.set(deliveries, isScheduled: false, isCancelled: false)
        }
        return broadcast
    }

    /// Sends a broadcast that was accepted earlier and whose time has come. If a crowd was added after the acceptance
    /// and cannot take the message, the message is still sent to the channel. Where newer content was accepted after the
    /// broadcast, the message takes that content (`carried`).
    mutating func promote(_ scheduled: ScheduledBroadcast) throws(Problem) {
        let (request, plan) = try decide(scheduled.request, scheduled.intake, at: now)
        try requireContent(plan)
        promoted[scheduled.id] = request.payload
        _ = enqueue(
            scheduled.id, plan, scheduled.intake.target, acceptedAt: scheduled.acceptedAt, begins: scheduled.goesAt)
    }

    /// Refuses an update without content if no audience has content that it could take.
    private func requireContent(_ plan: DeliveryPlan) throws(Problem) {
        guard !plan.items.isEmpty, plan.items.allSatisfy({ lacksContent($0) }) else { return }
        throw Problem.invalid(
            "contentState was left out, and there is no content yet that the update could be sent with.",
            at: "/contentState", "Give contentState, or send a state before.")
    }

    private func lacksContent(_ item: DeliveryPlan.Item) -> Bool {
        let payload = item.payload
        return payload.event == .update && payload.contentState == nil && carried(by: item, .distantPast) == nil
    }

    /// The content that a message takes instead of its own: content that was accepted after the message. So a message
    /// that waited for its time shows no old score. An update without content takes the newest there is.
    ///
    /// - Returns: the content's broadcast and its bytes; `nil`: the message's own content is sent, because none is
    ///   newer, or because the newer one is too long together with the alert.
    private func carried(by item: DeliveryPlan.Item, _ acceptedAt: Date) -> (broadcast: UUID, bytes: Int)? {
        let (lane, payload) = (lanes[item.place], item.payload)
        guard let id = lane.newest, let newest = known[id] else { return nil }
        let content = newest.content.payload(for: lane.audience.variant)
        guard let state = content.contentState else { return nil }
        let bytes = state.count + (content.relevanceScore?.count ?? 0)
        if payload.contentState == nil { return payload.event == .update ? (id, bytes) : nil }
        let fits = bytes + (payload.alert?.count ?? 0) <= lane.bytesForContentAndAlert
        return newest.acceptedAt > acceptedAt && fits ? (id, bytes) : nil
    }

    /// - Returns: the request with its event's defaults, and its messages to lanes.
    func decide(
        _ request: BroadcastRequest, _ intake: Intake, at time: Date
    ) throws(Problem) -> (request: BroadcastRequest, plan: DeliveryPlan) {
        guard let target = targets[intake.target] else { throw intake.target.absent }
        let all = target.lanes.compactMap { places[$0] }
        guard intake.reach.covers(event: intake.target.eventKey, of: all.lazy.map { lanes[$0].audience.bundleID })
        else {
            throw intake.target.absent
        }
        let open = all.filter { lanes[leads[$0] ?? $0].fencedAt == nil }
        guard !target.isOver, !open.isEmpty || all.isEmpty, !selectsOnlyFenced(request, all, open)
        else {
            throw intake.target.over
        }
        let (request, warning) = request.filled(by: target.defaults, at: time).fitted(at: time)
        var plan = try DeliveryPlan(
            request, audiences: audiences(of: open), now: time, alertFreshness: alertFreshness)
        if let warning { plan.warnings.append(warning) }
        try plan.check(by: types(of: all), missing: missingTypes(of: all))
        if request.audiences == nil { plan.warn(ended: audiences(of: all.filter { !open.contains($0) })) }
        if !withoutPlace.isEmpty {
            let reached = Set(plan.items.lazy.map(\.audience.id))
            plan.warn(
                withoutPlace: audiences(of: open.filter { withoutPlace.contains(lanes[$0].id) })
                    .filter { reached.contains($0.id) })
        }
        let byAudience = Dictionary(grouping: open) { lanes[$0].audience.id }
        plan.spread { audience in (byAudience[audience] ?? []).filter(takes).map { ($0, lanes[$0].kind) } }
        return (request, plan)
    }

    /// The content types of the audiences of these lanes.
    private func types(of places: [Int]) -> [Audience.ID: ContentType] {
        guard !types.byLane.isEmpty else { return [:] }
        return Dictionary(
            places.compactMap { place in types.byLane[lanes[place].id].map { (lanes[place].audience.id, $0) } }
        ) {
            one, _ in one
        }
    }

    /// Those of these lanes' audiences that name a content type which their app does not have, each with that name.
    private func missingTypes(of places: [Int]) -> [Audience.ID: String] {
        guard !types.missing.isEmpty else { return [:] }
        return Dictionary(
            places.compactMap { place in types.missing[lanes[place].id].map { (lanes[place].audience.id, $0) } }
        ) {
            one, _ in one
        }
    }

    // MARK: States

    /// - Returns: the broadcast that was made from the state; `nil`: the state has nothing new.
    private mutating func tell(_ report: StateReport, _ intake: Intake, at now: Date) throws(Problem) -> Contract
        .Broadcast?
    {
        let decision = try decide(report, intake, at: now)
        let reached = places(of: report, intake.target).places
        var broadcast: Contract.Broadcast?
        if let request = decision.request {
            broadcast = try add(request, intake, at: now, state: decision)
        }
        let id = broadcast?.uuid
        for place in reached {
            // A message that was refused, because it is too long, has the state, too. Without a message, the newest
            // content is the same as the state.
            let message = lanes[place].messages.last { $0.broadcast == id }
            lanes[place].told = message?.broadcast ?? lanes[place].newest
            guard !decision.undone.isEmpty else { continue }
            for place in [place] + (followers[place] ?? []) { lanes[place].silence(decision.undone, at: now) }
        }
        if targets[intake.target]?.progress != decision.progress {
            targets[intake.target]?.progress = decision.progress
            if let key = intake.target.eventKey { progress[key.rawValue] = decision.progress }
        }
        occurrences.append(.told(decision.outcome, saved: broadcast == nil ? decision.audiences : 0))
        return broadcast
    }

    /// - Throws: `event-not-found`, `event-ended`, `stale-state`; `invalid-request` for audiences and variants that
    ///   the event lacks.
    func decide(_ report: StateReport, _ intake: Intake, at now: Date) throws(Problem) -> StateDecision {
        guard let target = targets[intake.target] else { throw intake.target.absent }
        let all = target.lanes.compactMap { places[$0] }
        guard intake.reach.covers(event: intake.target.eventKey, of: all.lazy.map { lanes[$0].audience.bundleID })
        else {
            throw intake.target.absent
        }
        let ids = all.map { lanes[$0].audience.id }
        let unknown = (report.audiences ?? []).enumerated().filter { selector in
            !ids.contains(where: selector.element.matches)
        }
        guard unknown.isEmpty else {
            throw Problem(
                .invalidRequest, "The event does not have some of these audiences.",
                errors: unknown.map {
                    FieldError(pointer: "/audiences/\($0.offset)", detail: $0.element.objection(among: ids))
                })
        }
        let own = report.byVariant.map { ($0.key.rawValue, Contract.VariantContent()) }
        try BroadcastContent(
            BroadcastPayload(event: .update), byVariant: Dictionary(uniqueKeysWithValues: own)
        ).requireVariants(among: ids)
        let (reached, isOver) = places(of: report, intake.target)
        let (types, missing) = (types(of: all), missingTypes(of: all))
        let decision = try StateDecision(
            report,
            to: reached.map { place in
                let (lane, id) = (lanes[place], lanes[place].audience.id)
                var target = StateDecision.TargetAudience(
                    audience: id, type: types[id], newest: content(of: lane.newest, place),
                    isMisnamed: missing[id] != nil)
                if lane.told != lane.newest { target.told = content(of: lane.told, place) }
                if !isOver, lane.newest.flatMap({ known[$0] })?.lost.contains(lane.id) == true {
                    target.told = target.told ?? target.newest
                    target.newest = nil
                }
                target.rings = rings(of: place)
                return target
            }, isOver: isOver, progress: target.progress, now: now)
        guard !isOver || decision.request == nil else { throw intake.target.over }
        // Audiences that are over accept only a repetition of their last state: the content is unchanged, and the state
        // is final or has the last sequence.
        guard !isOver || report.isFinal || report.sequence != nil && report.sequence == target.progress.sequence
        else {
            throw intake.target.over
        }
        return decision
    }

    /// The leads of the audiences that a state is for: those that are not over, or else all that the state names.
    private func places(of report: StateReport, _ target: BroadcastTarget) -> (places: [Int], isOver: Bool) {
        let target = targets[target]
        let selected = (target?.lanes ?? []).compactMap { places[$0] }.filter { place in
            leads[place] == nil && report.audiences?.contains { $0.matches(lanes[place].audience.id) } ?? true
        }
        let open = target?.isOver ?? true ? [] : selected.filter { lanes[$0].fencedAt == nil }
        return open.isEmpty ? (selected, true) : (open, false)
    }

    /// The content of a broadcast, as the audience of a lane gets it.
    private func content(of broadcast: UUID?, _ place: Int) -> [UInt8]? {
        broadcast.flatMap { known[$0] }?.content.payload(for: lanes[place].audience.variant).contentState
    }

    /// The alerts of states that wait for an audience.
    private func rings(of place: Int) -> [StateDecision.Ring] {
        ([place] + (followers[place] ?? [])).flatMap { lanes[$0].pending.filter(\.alerting) }.compactMap { message in
            guard let rule = known[message.broadcast]?.rule, let state = content(of: message.broadcast, place),
                let before = content(of: message.contentBefore, place)
            else { return nil }
            return (message.broadcast, rule, before, state)
        }
    }

    // MARK: Parts of a decision

    /// Whether a selector of the request matches only audiences that already got an `end`.
    private func selectsOnlyFenced(_ request: BroadcastRequest, _ all: [Int], _ open: [Int]) -> Bool {
        guard let selectors = request.audiences else { return false }
        let openIDs = Set(open.lazy.map { lanes[$0].audience.id })
        let allIDs = Set(all.lazy.map { lanes[$0].audience.id })
        return selectors.contains { selector in
            allIDs.contains(where: selector.matches) && !openIDs.contains(where: selector.matches)
        }
    }

    /// The audiences of the leads among these lanes, in the order of the lanes. Each audience has one lead, so none is
    /// listed twice.
    private func audiences(of places: [Int]) -> [Audience] {
        places.filter { leads[$0] == nil }.map { lanes[$0].audience }
    }

    /// Whether a lane gets messages. A lead gets messages. A follower gets messages if it is a crowd's lane and has
    /// members or a message that waits.
    private func takes(_ place: Int) -> Bool {
        leads[place] == nil || populated.contains(place) || lanes[place].kind.isCrowd && lanes[place].head != nil
    }

    /// Makes an audience's lanes follow their lead (`Lane.follow`). First the lead takes over the highest timestamp
    /// that a follower has sent.
    private mutating func alignLanes(with lead: Int) {
        for place in followers[lead] ?? [] { lanes[lead].lift(to: lanes[place].lastTimestamp) }
        for place in followers[lead] ?? [] { lanes[place].follow(lanes[lead]) }
    }

    /// - Parameter time: when the broadcast was accepted or, if it was scheduled, its `sendAt`. An event that is not
    ///   live yet becomes live at this time.
    private mutating func enqueue(
        _ id: UUID, _ plan: DeliveryPlan, _ target: BroadcastTarget, acceptedAt: Date, begins time: Date,
        state: StateDecision? = nil
    ) -> [Contract.Delivery] {
        // A lead takes every message, so the leads of all audiences that the broadcast reaches are among the items.
        let reached = plan.items.map(\.place).filter { leads[$0] == nil }
        for lead in reached { alignLanes(with: lead) }
        let deliveries = plan.items.compactMap { item -> Contract.Delivery? in
            let place = item.place
            guard !lacksContent(item) else { return nil }
            // The order of messages that were not scheduled is that of the locks.
            let other = carried(by: item, time > acceptedAt ? acceptedAt : .distantFuture)
            var message = LaneMessage(id, plan, item, carrying: other)
            message.nextAttemptAt = state?.notBefore
            if item.refusal == nil {
                lanes[place].accept(message, at: now)
            } else {
                lanes[place].refuse(message, at: now)
            }
            accepted.append((place, id))
            return lanes[place].messages.last.map { Contract.Delivery($0, item.audience, lanes[place].kind) }
        }
        known[id] = ContentRows.Known(content: plan.content, acceptedAt: acceptedAt, rule: state?.rule)
        for lead in reached { alignLanes(with: lead) }
        if plan.payload.event == .end {
            endIfOver(target)
        } else if let key = target.eventKey, targets[target]?.isStarted == false {
            startedEvents[key.rawValue] = startedEvents[key.rawValue] ?? time
        }
        return deliveries
    }

    /// Marks the target as over if each of its audiences has got an `end`.
    private mutating func endIfOver(_ target: BroadcastTarget) {
        let isOver = targets[target]?.lanes.allSatisfy { id in places[id].map { lanes[$0].fencedAt != nil } ?? false }
        guard isOver == true else { return }
        targets[target]?.isOver = true
        if let key = target.eventKey { endedEvents.insert(key.rawValue) }
    }

    // MARK: Writing

    /// The topics of the loops that must be woken after the commit; empty if nothing waits for a loop.
    var topics: Set<WakeTopic> {
        var topics = Set(changes.lanes.map(\.topic))
        if broadcasts.contains(where: \.isScheduled) { topics.insert(.schedule) }
        if !endedEvents.isEmpty { topics.insert(.channels) }
        return topics
    }

    /// Messages to append, in order.
    var appended: [DeliveryRow] {
        accepted.compactMap { place, broadcast in
            lanes[place].messages.last { $0.broadcast == broadcast }.map { DeliveryRow($0, of: lanes[place]) }
        }
    }

    /// The lanes that changed, and the same lanes as they were loaded.
    var changes: (lanes: [Lane], loaded: [Lane]) {
        let places = lanes.indices.filter { lanes[$0] != loaded[$0] }
        return (places.map { lanes[$0] }, places.map { loaded[$0] })
    }
}

extension LaneMessage {
    /// The message of an accepted broadcast to one audience.
    ///
    /// - Parameter carried: the broadcast whose content the message takes, and the content's bytes; `nil`: its own.
    fileprivate init(
        _ broadcast: UUID, _ plan: DeliveryPlan, _ item: DeliveryPlan.Item,
        carrying carried: (broadcast: UUID, bytes: Int)?
    ) {
        let payload = item.payload
        self.init(
            broadcast: broadcast, isEnd: payload.event == .end, dismissalDate: payload.dismissalDate,
            priority: item.priority, plainPriority: item.plainPriority, alerting: item.ringsUntil != nil,
            ringsUntil: item.ringsUntil, apnsExpiration: item.apnsExpiration, expiresAt: plan.expiresAt,
            requestID: .drawn(), hasContent: carried == nil && payload.contentState != nil,
            contentOf: carried?.broadcast,
            contentBytes: carried?.bytes
                ?? payload.contentState.map { $0.count + (payload.relevanceScore?.count ?? 0) },
            alertBytes: payload.alert?.count)
    }
}
