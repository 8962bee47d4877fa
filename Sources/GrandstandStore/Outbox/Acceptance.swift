internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import Postgres

/// What a batch of broadcasts comes to, decided in memory between the locks and the one write.
///
/// Items are taken in order and see what the ones before them did: after an `end`, the next item finds the event over.
struct Acceptance {
    /// What a target takes still.
    struct TargetState {
        var isOver: Bool
        /// Of an event: something was sent for it before.
        var isStarted = false
        /// Lanes by their IDs, in the order of the event's audiences; a channel's one.
        var lanes: [Int]
    }

    struct BroadcastRow {
        let id: UUID
        let intake: BroadcastIntake
        let acceptedAt: Date
        let isScheduled: Bool
        let warnings: [String]
        /// The apps it is for.
        let apps: [BundleID]
    }

    /// When it is decided; an item may have come a little earlier.
    let now: Date
    private var targets: [BroadcastTarget: TargetState]
    /// Every lane of the targets, as it was.
    private let loaded: [Int: Lane]
    private var lanes: [Int: Lane]
    private(set) var broadcasts: [BroadcastRow] = []
    private var payloads: [UUID: BroadcastPayload] = [:]
    /// Lanes that took a message.
    private var reached: Set<Int> = []
    /// The messages they took, in order of acceptance, those of a broadcast in the order of its event's audiences.
    private var accepted: [(lane: Int, broadcast: UUID)] = []
    /// What leaves with the commit.
    private(set) var outgoing = Outgoing()
    /// Whom to wake after the commit.
    private(set) var topics: Set<WakeTopic> = []
    private(set) var startedEvents: Set<String> = []
    private(set) var endedEvents: Set<String> = []

    init(targets: [BroadcastTarget: TargetState], lanes: [Lane], now: Date) {
        self.targets = targets
        loaded = Dictionary(lanes.map { ($0.id, $0) }) { first, _ in first }
        self.lanes = loaded
        self.now = now
    }

    /// Decides one item that came at `now`; a refusal leaves no trace.
    mutating func add(_ intake: BroadcastIntake, at now: Date, plan: DeliveryPlanning) throws(Problem) -> Broadcast {
        let id = UUID.drawn()
        let sendAt = intake.request.sendAt.flatMap { $0 > now ? $0 : nil }
        let decided = try decide(intake, at: sendAt ?? now, plan)
        broadcasts.append(
            BroadcastRow(
                id: id, intake: intake, acceptedAt: now, isScheduled: sendAt != nil,
                warnings: decided.plan.warnings, apps: Set(decided.plan.items.map(\.audience.bundleID)).sorted()))
        if sendAt != nil { topics.insert(.schedule) }
        return Broadcast(
            id: id, eventKey: intake.target.eventKey, event: intake.request.payload.event, acceptedAt: now,
            sendAt: sendAt, isScheduled: sendAt != nil, deliveries: sendAt == nil ? enqueue(id, decided, intake) : [],
            warnings: decided.plan.warnings, by: intake.actor.text)
    }

    /// Sends a broadcast that was accepted earlier for now.
    mutating func promote(_ scheduled: ScheduledBroadcast, plan: DeliveryPlanning) throws(Problem) {
        _ = enqueue(scheduled.id, try decide(scheduled.intake, at: now, plan), scheduled.intake)
    }

    private typealias Decision = (plan: DeliveryPlan, lanes: [Int])

    private func decide(
        _ intake: BroadcastIntake, at time: Date, _ plan: DeliveryPlanning
    ) throws(Problem) -> Decision {
        guard let target = targets[intake.target] else { throw intake.target.absent }
        let all = target.lanes.compactMap { lanes[$0] }
        guard intake.reach.covers(eventOf: all.lazy.map(\.audience.bundleID)) else {
            throw intake.reach.refusal
        }
        let open = all.filter { $0.fencedAt == nil }
        let reachesFenced = all.contains { lane in
            lane.fencedAt != nil && intake.request.audiences?.contains(lane.audience.id) ?? false
        }
        guard !target.isOver, !open.isEmpty || all.isEmpty, !reachesFenced else {
            throw intake.target.over
        }
        let plan = try plan(intake.request, open.map(\.audience), time)
        let byAudience = Dictionary(all.map { ($0.audience, $0.id) }) { first, _ in first }
        return (plan, plan.items.compactMap { byAudience[$0.audience] })
    }

    private mutating func enqueue(_ id: UUID, _ decided: Decision, _ intake: BroadcastIntake) -> [Delivery] {
        let plan = decided.plan
        payloads[id] = plan.payload
        let deliveries = zip(plan.items, decided.lanes).compactMap { item, lane -> Delivery? in
            let message = LaneMessage(id, plan, item, asked: intake.request.priority)
            lanes[lane]?.accept(message, at: now)
            reached.insert(lane)
            accepted.append((lane, id))
            topics.insert(.lanes(item.audience.environment))
            return lanes[lane]?.messages.last.map { Delivery($0, item.audience) }
        }
        if plan.payload.event == .end {
            endIfOver(intake.target)
        } else if let key = intake.target.eventKey, targets[intake.target]?.isStarted == false {
            startedEvents.insert(key.rawValue)
        }
        return deliveries
    }

    /// A target is over when every audience of it got its end.
    private mutating func endIfOver(_ target: BroadcastTarget) {
        guard let state = targets[target], state.lanes.allSatisfy({ lanes[$0]?.fencedAt != nil }) else { return }
        targets[target]?.isOver = true
        if let key = target.eventKey {
            endedEvents.insert(key.rawValue)
            topics.insert(.channels)
        }
    }

    // MARK: Departures

    /// Takes what leaves with the commit, by the rules of every claim (`Lane.take`): lanes with nothing else pending, as
    /// many as have a place, the urgent first. The others stay queued.
    mutating func depart(by departures: any Departures) {
        let alone = reached.sorted().compactMap { lanes[$0] }.filter { lane in
            lane.messages.count { !$0.state.isSettled } == 1 && lane.head?.id == nil
                && lane.due(at: now).map { $0 <= now } ?? false && lane.channel?.takesMessages ?? false
        }
        for (environment, lanes) in Dictionary(grouping: alone, by: \.audience.environment) {
            guard let claim = departures.claim(lanes.count, in: environment) else { continue }
            for var lane in (lanes.filter(\.isUrgent) + lanes.filter { !$0.isUrgent }).prefix(claim.limit) {
                let message = lane.take(claim, requestID: UUID.drawn)
                self.lanes[lane.id] = lane
                if let message { outgoing.add(message, of: lane) }
            }
        }
        // Where everything that is new departs, nobody needs to look for the rest.
        let waiting = reached.subtracting(outgoing.items.map(\.lane.id)).compactMap { lanes[$0]?.audience.environment }
        topics.subtract(Set(APNsEnvironment.allCases).subtracting(waiting).map(WakeTopic.lanes))
    }

    // MARK: What is written

    /// Messages to append, in order.
    var appended: [(lane: Int, message: LaneMessage)] {
        accepted.compactMap { lane, broadcast in
            lanes[lane]?.messages.last { $0.broadcast == broadcast }.map { (lane, $0) }
        }
    }

    /// The lanes that took a message, and the same as they were.
    var changes: (lanes: [Lane], loaded: [Lane]) {
        let ids = reached.sorted()
        return (ids.compactMap { lanes[$0] }, ids.compactMap { loaded[$0] })
    }

    /// What departs, when the transaction is committed.
    ///
    /// - Parameters:
    ///   - inserted: the rows of what was appended.
    ///   - destinations: those of `outgoing.destinations`.
    func departing(inserted: PostgresRows, destinations: PostgresRows) throws -> [ClaimedDelivery] {
        var ids: [Int: Int] = [:]
        for row in inserted { ids[try row.decode("lane")] = try row.decode("id") }
        return try outgoing.deliveries(ids: ids, contents: payloads, destinations: destinations)
    }
}

extension LaneMessage {
    /// The message of an accepted broadcast to one audience.
    ///
    /// - Parameter asked: the priority that the organiser asked for.
    fileprivate init(_ broadcast: UUID, _ plan: DeliveryPlan, _ item: DeliveryPlan.Item, asked: APNsPriority?) {
        let payload = plan.payload
        let isEnd = payload.event == .end
        self.init(
            broadcast: broadcast, isEnd: isEnd, dismissalDate: payload.dismissalDate, priority: plan.priority,
            plainPriority: asked ?? (isEnd ? .immediate : .powerAware), alerting: plan.ringsUntil != nil,
            ringsUntil: plan.ringsUntil, apnsExpiration: item.apnsExpiration, expiresAt: plan.expiresAt,
            requestID: .drawn(), hasContent: payload.contentState != nil,
            contentBytes: payload.contentState.map { $0.count + (payload.relevanceScore?.count ?? 0) },
            alertBytes: payload.alert?.count)
    }
}

extension Delivery {
    fileprivate init(_ message: LaneMessage, _ audience: Audience) {
        self.init(
            bundleID: audience.bundleID, environment: audience.environment, channelID: message.channelID,
            state: message.state, attempts: 0, priority: message.priority, apnsExpiration: message.apnsExpiration,
            timestamp: nil, apnsRequestID: message.requestID, apnsUniqueID: nil, reason: nil, nextAttemptAt: nil,
            settledAt: nil)
    }
}

extension BroadcastTarget {
    fileprivate var absent: Problem {
        switch self {
        case .event(let key):
            Problem(.eventNotFound, "There is no event \(key). Create it with PUT /v1/events first.")
        case .channel(let id):
            Problem(
                .channelNotFound, "The channel \(id.uuidString.lowercased()) is not active, or belongs to an event.")
        }
    }

    fileprivate var over: Problem {
        switch self {
        case .event(let key): Problem(.eventEnded, "The event \(key) is over; nothing more is sent for it.")
        case .channel: Problem(.eventEnded, "An end was sent to this channel; nothing follows it. Create another.")
        }
    }
}
