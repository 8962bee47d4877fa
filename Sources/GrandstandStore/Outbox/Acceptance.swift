internal import APNsWire
internal import FoundationEssentials
internal import Grandstand

/// What a batch of broadcasts comes to, decided in memory between the locks and the one write.
///
/// Items are taken in order and see what the ones before them did: after an `end`, the next item finds the event over.
struct Acceptance {
    /// What a target takes still.
    struct TargetState {
        var isOver: Bool
        /// Of an event: something was sent for it before.
        var isStarted = false
        /// In the order of the event's audiences; a channel's one.
        var lanes: [LaneState]
    }

    struct LaneState {
        let audience: Audience
        let position: Int
        let id: Int
        var isFenced: Bool
        let channelID: String?
        /// Whose content is the newest.
        let newest: UUID?
        /// Nothing is pending or under way, and the next message may go at once.
        var idle: IdleLane?
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

    struct DeliveryRow {
        let broadcastID: UUID
        let lane: Int
        let isEnd: Bool
        /// When its alert is too old; `nil`: it has none.
        let ringsUntil: Date?
        let priority: APNsPriority
        let apnsExpiration: Int
        let expiresAt: Date
        let requestID: UUID
        let channelID: String?
        let audience: Audience
        let payload: BroadcastPayload
        /// Whose content was the lane's newest before.
        let contentBefore: UUID?
        let idle: IdleLane?
    }

    /// When it is decided; an item may have come a little earlier.
    let now: Date
    private var targets: [BroadcastTarget: TargetState]
    private(set) var broadcasts: [BroadcastRow] = []
    private(set) var deliveries: [DeliveryRow] = []
    /// The newest content of each lane.
    private(set) var newest: [Int: UUID] = [:]
    /// Lanes that take nothing after this.
    private(set) var fenced: Set<Int> = []
    /// Lanes with something of priority 10, or an end, among what is new.
    private(set) var urgent: Set<Int> = []
    /// When the last of what is new expires, by lane.
    private(set) var expiries: [Int: Date] = [:]
    /// Messages that leave with the commit, by lane.
    private(set) var departures: [Int: Departure] = [:]
    /// Whom to wake after the commit.
    private(set) var topics: Set<WakeTopic> = []
    private(set) var startedEvents: Set<String> = []
    private(set) var endedEvents: Set<String> = []

    init(targets: [BroadcastTarget: TargetState], now: Date) {
        self.targets = targets
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
        let rows = sendAt == nil ? enqueue(id, decided, intake) : []
        return Broadcast(
            id: id, eventKey: intake.target.eventKey, event: intake.request.payload.event, acceptedAt: now,
            sendAt: sendAt,
            isScheduled: sendAt != nil, deliveries: rows, warnings: decided.plan.warnings, by: intake.actor.text)
    }

    /// Sends a broadcast that was accepted earlier for now.
    mutating func promote(_ scheduled: ScheduledBroadcast, plan: DeliveryPlanning) throws(Problem) {
        _ = enqueue(scheduled.id, try decide(scheduled.intake, at: now, plan), scheduled.intake)
    }

    private typealias Decision = (plan: DeliveryPlan, lanes: [LaneState])

    private func decide(
        _ intake: BroadcastIntake, at time: Date, _ plan: DeliveryPlanning
    ) throws(Problem) -> Decision {
        guard let target = targets[intake.target] else { throw intake.target.absent }
        guard intake.reach.covers(eventOf: target.lanes.lazy.map(\.audience.bundleID)) else {
            throw intake.reach.refusal
        }
        let open = target.lanes.filter { !$0.isFenced }
        let reachesFenced = target.lanes.contains { lane in
            lane.isFenced && intake.request.audiences?.contains(lane.audience.selector) ?? false
        }
        guard !target.isOver, !open.isEmpty || target.lanes.isEmpty, !reachesFenced else {
            throw intake.target.over
        }
        let plan = try plan(intake.request, open.map(\.audience), time)
        let byAudience = Dictionary(target.lanes.map { ($0.audience, $0) }) { first, _ in first }
        return (plan, plan.items.compactMap { byAudience[$0.audience] })
    }

    private mutating func enqueue(_ id: UUID, _ decided: Decision, _ intake: BroadcastIntake) -> [Delivery] {
        let plan = decided.plan
        let isEnd = plan.payload.event == .end
        let rows = zip(plan.items, decided.lanes).map { item, lane in
            DeliveryRow(
                broadcastID: id, lane: lane.id, isEnd: isEnd, ringsUntil: plan.ringsUntil,
                priority: plan.priority, apnsExpiration: item.apnsExpiration, expiresAt: plan.expiresAt,
                requestID: .drawn(), channelID: lane.channelID, audience: item.audience, payload: plan.payload,
                contentBefore: newest[lane.id] ?? lane.newest, idle: lane.idle)
        }
        deliveries += rows
        for (row, item) in zip(rows, plan.items) {
            expiries[row.lane] = row.expiresAt
            if isEnd || row.priority == .immediate { urgent.insert(row.lane) }
            topics.insert(.lanes(item.audience.environment))
        }
        if plan.payload.contentState != nil {
            for row in rows { newest[row.lane] = id }
        }
        if isEnd {
            fence(Set(rows.map(\.lane)), of: intake.target)
        } else if let key = intake.target.eventKey, targets[intake.target]?.isStarted == false {
            startedEvents.insert(key.rawValue)
        }
        return zip(plan.items, rows).map { item, row in
            Delivery(
                bundleID: item.audience.bundleID, environment: item.audience.environment, channelID: row.channelID,
                state: row.channelID == nil ? .waiting : .queued, attempts: 0, priority: row.priority,
                apnsExpiration: row.apnsExpiration, timestamp: nil, apnsRequestID: row.requestID, apnsUniqueID: nil,
                reason: nil, nextAttemptAt: nil, settledAt: nil)
        }
    }

    /// The message of this row departs so.
    mutating func leave(_ row: DeliveryRow, _ departure: Departure) { departures[row.lane] = departure }

    /// A target is over when every audience of it got its end.
    private mutating func fence(_ lanes: Set<Int>, of target: BroadcastTarget) {
        fenced.formUnion(lanes)
        guard var state = targets[target] else { return }
        for index in state.lanes.indices where lanes.contains(state.lanes[index].id) {
            state.lanes[index].isFenced = true
        }
        if state.lanes.allSatisfy(\.isFenced) {
            state.isOver = true
            if let key = target.eventKey {
                endedEvents.insert(key.rawValue)
                topics.insert(.channels)
            }
        }
        targets[target] = state
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
