internal import APNsWire
internal import FoundationEssentials
internal import Grandstand

/// What a batch of broadcasts comes to, decided in memory between the locks and the one write.
///
/// Items are taken in order and see what the ones before them did: after an `end`, the next item finds the event over.
struct Acceptance {
    struct EventState {
        var isOver: Bool
        /// In the order of the event's audiences.
        var lanes: [LaneState]
    }

    struct LaneState {
        let audience: Audience
        let position: Int
        let id: Int
        var isFenced: Bool
        let channelID: String?
    }

    struct BroadcastRow {
        let id: UUID
        let intake: BroadcastIntake
        let acceptedAt: Date
        let isScheduled: Bool
        let warnings: [String]
    }

    struct DeliveryRow {
        let broadcastID: UUID
        let lane: Int
        let isEnd: Bool
        let isAlerting: Bool
        let priority: APNsPriority
        let apnsExpiration: Int
        let expiresAt: Date
        let requestID: UUID
        let channelID: String?
    }

    let now: Date
    private let plan: DeliveryPlanning
    private var events: [String: EventState]
    private(set) var broadcasts: [BroadcastRow] = []
    private(set) var deliveries: [DeliveryRow] = []
    /// The newest content of each lane.
    private(set) var newest: [Int: UUID] = [:]
    /// Lanes that take nothing after this.
    private(set) var fenced: Set<Int> = []
    private(set) var startedEvents: Set<String> = []
    private(set) var endedEvents: Set<String> = []

    init(events: [String: EventState], now: Date, plan: @escaping DeliveryPlanning) {
        self.events = events
        self.now = now
        self.plan = plan
    }

    /// Decides one item; a refusal leaves no trace.
    mutating func add(_ intake: BroadcastIntake) throws(Problem) -> Broadcast {
        let id = UUID()
        let sendAt = intake.request.sendAt.flatMap { $0 > now ? $0 : nil }
        let decided = try decide(intake, at: sendAt ?? now)
        broadcasts.append(
            BroadcastRow(
                id: id, intake: intake, acceptedAt: now, isScheduled: sendAt != nil,
                warnings: decided.plan.warnings))
        let rows = sendAt == nil ? enqueue(id, decided, intake) : []
        return Broadcast(
            id: id, eventKey: intake.eventKey, event: intake.request.payload.event, acceptedAt: now, sendAt: sendAt,
            isScheduled: sendAt != nil, deliveries: rows, warnings: decided.plan.warnings)
    }

    /// Sends a broadcast that was accepted earlier for now.
    mutating func promote(_ scheduled: ScheduledBroadcast) throws(Problem) {
        _ = enqueue(scheduled.id, try decide(scheduled.intake, at: now), scheduled.intake)
    }

    private typealias Decision = (plan: DeliveryPlan, lanes: [LaneState])

    private func decide(_ intake: BroadcastIntake, at time: Date) throws(Problem) -> Decision {
        guard let event = events[intake.eventKey.rawValue] else {
            throw Problem(.eventNotFound, "There is no event \(intake.eventKey). Create it with PUT /v1/events first.")
        }
        let open = event.lanes.filter { !$0.isFenced }
        let reachesFenced = event.lanes.contains { lane in
            lane.isFenced && intake.request.audiences?.contains(lane.audience.selector) ?? false
        }
        guard !event.isOver, !open.isEmpty || event.lanes.isEmpty, !reachesFenced else {
            throw Problem(.eventEnded, "The event \(intake.eventKey) is over; nothing more is sent for it.")
        }
        let plan = try plan(intake.request, open.map(\.audience), time)
        let byAudience = Dictionary(event.lanes.map { ($0.audience, $0) }) { first, _ in first }
        return (plan, plan.items.compactMap { byAudience[$0.audience] })
    }

    private mutating func enqueue(_ id: UUID, _ decided: Decision, _ intake: BroadcastIntake) -> [Delivery] {
        let key = intake.eventKey.rawValue
        let plan = decided.plan
        let isEnd = plan.payload.event == .end
        let rows = zip(plan.items, decided.lanes).map { item, lane in
            DeliveryRow(
                broadcastID: id, lane: lane.id, isEnd: isEnd, isAlerting: plan.payload.alert != nil,
                priority: plan.priority, apnsExpiration: item.apnsExpiration, expiresAt: plan.expiresAt,
                requestID: UUID(), channelID: lane.channelID)
        }
        deliveries += rows
        if plan.payload.contentState != nil {
            for row in rows { newest[row.lane] = id }
        }
        if isEnd {
            fence(Set(rows.map(\.lane)), of: key)
        } else {
            startedEvents.insert(key)
        }
        return zip(plan.items, rows).map { item, row in
            Delivery(
                bundleID: item.audience.bundleID, environment: item.audience.environment, channelID: row.channelID,
                state: row.channelID == nil ? .waiting : .queued, attempts: 0, priority: row.priority,
                apnsExpiration: row.apnsExpiration, timestamp: nil, apnsRequestID: row.requestID, apnsUniqueID: nil,
                reason: nil, nextAttemptAt: nil, settledAt: nil)
        }
    }

    /// An event is over when every audience of it got its end.
    private mutating func fence(_ lanes: Set<Int>, of key: String) {
        fenced.formUnion(lanes)
        guard var event = events[key] else { return }
        for index in event.lanes.indices where lanes.contains(event.lanes[index].id) {
            event.lanes[index].isFenced = true
        }
        if event.lanes.allSatisfy(\.isFenced) {
            event.isOver = true
            endedEvents.insert(key)
        }
        events[key] = event
    }
}
