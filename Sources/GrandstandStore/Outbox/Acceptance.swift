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
        /// Of a push: its token's.
        let lane: Int?
        let acceptedAt: Date
        let isScheduled: Bool
        let warnings: [String]
        /// The apps it is for.
        let apps: [BundleID]
    }

    /// When it is decided; an item may have come a little earlier.
    let now: Date
    private var targets: [BroadcastTarget: TargetState]
    /// Every lane of the targets, as it was, in order of their IDs.
    private let loaded: [Lane]
    /// The same as they are now.
    private var lanes: [Lane]
    /// Where each stands in them, by its ID.
    private let places: [Int: Int]
    private(set) var broadcasts: [BroadcastRow] = []
    private var contents: [UUID: BroadcastContent] = [:]
    /// The messages that lanes took, in order of acceptance, those of a broadcast in the order of its event's audiences.
    private var accepted: [(place: Int, broadcast: UUID)] = []
    /// What leaves with the commit.
    private(set) var outgoing = Outgoing()
    private(set) var startedEvents: Set<String> = []
    private(set) var endedEvents: Set<String> = []

    /// - Parameter lanes: every lane of the targets, in order of their IDs.
    init(targets: [BroadcastTarget: TargetState], lanes: [Lane], now: Date) {
        self.targets = targets
        loaded = lanes
        self.lanes = lanes
        places = Dictionary(uniqueKeysWithValues: zip(lanes.lazy.map(\.id), lanes.indices))
        self.now = now
    }

    /// Decides one item that came at `now`; a refusal leaves no trace.
    mutating func add(_ intake: BroadcastIntake, at now: Date, plan: DeliveryPlanning) throws(Problem) -> Broadcast {
        let id = UUID.drawn()
        let sendAt = intake.request.sendAt.flatMap { $0 > now ? $0 : nil }
        let decided = try decide(intake, at: sendAt ?? now, plan)
        // Only now: a variant that went before a scheduled broadcast's time is nobody's, and the rest goes.
        if !intake.request.byVariant.isEmpty {
            let all = (targets[intake.target]?.lanes ?? []).compactMap { places[$0] }
            try intake.request.content.requireVariants(among: all.map { lanes[$0].audience.id })
        }
        broadcasts.append(
            BroadcastRow(
                id: id, intake: intake,
                lane: intake.target.token == nil ? nil : targets[intake.target]?.lanes.first, acceptedAt: now,
                isScheduled: sendAt != nil,
                warnings: decided.plan.warnings, apps: Set(decided.plan.items.map(\.audience.bundleID)).sorted()))
        return Broadcast(
            id: id, eventKey: intake.target.eventKey, recipient: intake.target.token,
            event: intake.request.payload.event, acceptedAt: now, sendAt: sendAt, isScheduled: sendAt != nil,
            deliveries: sendAt == nil ? enqueue(id, decided, intake).withCrowdsJoined : [],
            warnings: decided.plan.warnings, by: intake.actor.text)
    }

    /// Sends a broadcast that was accepted earlier for now.
    mutating func promote(_ scheduled: ScheduledBroadcast, plan: DeliveryPlanning) throws(Problem) {
        _ = enqueue(scheduled.id, try decide(scheduled.intake, at: now, plan), scheduled.intake)
    }

    /// What goes to which lanes, by their places.
    private typealias Decision = (plan: DeliveryPlan, items: [(place: Int, item: DeliveryPlan.Item)])

    private func decide(
        _ intake: BroadcastIntake, at time: Date, _ plan: DeliveryPlanning
    ) throws(Problem) -> Decision {
        guard let target = targets[intake.target] else { throw intake.target.absent }
        let all = target.lanes.compactMap { places[$0] }
        guard intake.reach.covers(eventOf: all.lazy.map { lanes[$0].audience.bundleID }) else {
            throw intake.reach.refusal
        }
        // A start begins something; an end before it was another's.
        let isStart = intake.request.payload.event == .start
        let open = all.filter { isStart || lanes[$0].fencedAt == nil }
        guard isStart || !target.isOver, !open.isEmpty || all.isEmpty, !namesFenced(intake.request, all, open) else {
            throw intake.target.over
        }
        let plan = try plan(intake.request, audiences(of: open), time)
        let byAudience = Dictionary(grouping: open) { lanes[$0].audience.id }
        let items = plan.items.flatMap { item in
            (byAudience[item.audience.id] ?? []).map { place in
                (place, lanes[place].kind.isCrowd ? plan.item(forTokensOf: item.audience) : item)
            }
        }
        for (place, item) in items where lanes[place].kind.isCrowd { try plan.refuseWhatNoTokenTakes(item.payload) }
        return (plan, items)
    }

    /// Whether a selector of the request names audiences all of which got their end.
    private func namesFenced(_ request: BroadcastRequest, _ all: [Int], _ open: [Int]) -> Bool {
        guard let selectors = request.audiences else { return false }
        let openIDs = Set(open.lazy.map { lanes[$0].audience.id })
        let allIDs = Set(all.lazy.map { lanes[$0].audience.id })
        return selectors.contains { selector in
            allIDs.contains(where: selector.matches) && !openIDs.contains(where: selector.matches)
        }
    }

    /// Whom lanes are for, in their order: a crowd has its audience's channel beside it, or stands alone.
    private func audiences(of places: [Int]) -> [Audience] {
        let ofChannels = places.filter { !lanes[$0].kind.isCrowd }.map { lanes[$0].audience }
        var seen = Set(ofChannels.lazy.map(\.id))
        return ofChannels
            + places.filter { lanes[$0].kind.isCrowd }.map { lanes[$0].audience }.filter { seen.insert($0.id).inserted }
    }

    private mutating func enqueue(_ id: UUID, _ decided: Decision, _ intake: BroadcastIntake) -> [Delivery] {
        let plan = decided.plan
        contents[id] = plan.content
        let deliveries = decided.items.compactMap { place, item -> Delivery? in
            lanes[place].accept(LaneMessage(id, plan, item), at: now)
            accepted.append((place, id))
            return lanes[place].messages.last.map { Delivery($0, item.audience, lanes[place].kind) }
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
        let isOver = targets[target]?.lanes.allSatisfy { id in places[id].map { lanes[$0].fencedAt != nil } ?? false }
        guard isOver == true else { return }
        targets[target]?.isOver = true
        if let key = target.eventKey { endedEvents.insert(key.rawValue) }
    }

    // MARK: Departures

    /// Takes what leaves with the commit, by the rules of every claim (`Lane.take`): lanes with nothing else pending, as
    /// many as have a place, the urgent first. The others stay queued.
    mutating func depart(by departures: any Departures) {
        let alone = reached.filter { isAlone(lanes[$0]) }
        for (environment, places) in Dictionary(grouping: alone, by: { lanes[$0].audience.environment }) {
            guard let claim = departures.claim(places.count, in: environment) else { continue }
            let urgentFirst = places.filter { lanes[$0].isUrgent } + places.filter { !lanes[$0].isUrgent }
            for place in urgentFirst.prefix(claim.limit) {
                guard let message = lanes[place].take(claim, requestID: UUID.drawn) else { continue }
                outgoing.add(message, of: lanes[place])
            }
        }
    }

    /// Nothing else waits on the lane, and what does may go now.
    private func isAlone(_ lane: Lane) -> Bool {
        lane.pending.count == 1 && lane.head?.id == nil && lane.due(at: now).map { $0 <= now } ?? false
            && !lane.kind.isCrowd && lane.takesMessages
    }

    /// Whom to wake after the commit: nobody looks for the rest where everything that is new departs.
    var topics: Set<WakeTopic> {
        let departing = Set(outgoing.items.lazy.map(\.lane))
        let waiting = reached.lazy.filter { !departing.contains(lanes[$0].id) }
        var topics = Set(waiting.map { WakeTopic.lanes(lanes[$0].audience.environment) })
        if broadcasts.contains(where: \.isScheduled) { topics.insert(.schedule) }
        if !endedEvents.isEmpty { topics.insert(.channels) }
        return topics
    }

    // MARK: What is written

    /// Messages to append, in order, each with its lane.
    var appended: (lanes: [Int], messages: [LaneMessage]) {
        let messages = accepted.compactMap { place, broadcast in
            lanes[place].messages.last { $0.broadcast == broadcast }
        }
        return (accepted.map { lanes[$0.place].id }, messages)
    }

    /// The lanes that took a message, and the same as they were.
    var changes: (lanes: [Lane], loaded: [Lane]) {
        let places = reached
        return (places.map { lanes[$0] }, places.map { loaded[$0] })
    }

    /// Places of the lanes that took a message.
    private var reached: [Int] { Set(accepted.lazy.map(\.place)).sorted() }

    /// What departs, when the transaction is committed.
    ///
    /// - Parameters:
    ///   - inserted: the rows of what was appended.
    ///   - destinations: those of `outgoing.destinations`.
    func departing(inserted: PostgresRows, destinations: PostgresRows) throws -> [ClaimedDelivery] {
        var ids: [Int: Int] = [:]
        for row in inserted { ids[try row.decode("lane")] = try row.decode("id") }
        return try outgoing.deliveries(ids: ids, contents: contents, destinations: destinations)
    }
}

extension LaneMessage {
    /// The message of an accepted broadcast to one audience.
    fileprivate init(_ broadcast: UUID, _ plan: DeliveryPlan, _ item: DeliveryPlan.Item) {
        let payload = item.payload
        let (isEnd, isStart) = (payload.event == .end, payload.event == .start)
        self.init(
            broadcast: broadcast, isEnd: isEnd, isStart: isStart, dismissalDate: payload.dismissalDate,
            priority: item.priority, plainPriority: item.plainPriority, alerting: item.ringsUntil != nil,
            // Without its alert a start is none: it goes with it or not at all.
            ringsUntil: isStart ? nil : item.ringsUntil, apnsExpiration: item.apnsExpiration, expiresAt: plan.expiresAt,
            requestID: .drawn(), hasContent: payload.contentState != nil && !isStart,
            contentBytes: payload.contentState.map { $0.count + (payload.relevanceScore?.count ?? 0) },
            alertBytes: payload.alert?.count)
    }
}

extension Delivery {
    fileprivate init(_ message: LaneMessage, _ audience: Audience, _ kind: Lane.Kind) {
        self.init(
            counts: kind.isCrowd ? Counts() : nil,
            bundleID: audience.bundleID, environment: audience.environment, channelID: message.channelID,
            state: message.state, attempts: 0, priority: message.priority, apnsExpiration: message.apnsExpiration,
            timestamp: nil, apnsRequestID: message.requestID, apnsUniqueID: nil, reason: nil, nextAttemptAt: nil,
            settledAt: nil, variant: audience.variant)
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
        case .token(let address):
            Problem(.appNotFound, "There is no app \(address.app.bundleID). Register it with PUT /v1/apps first.")
        }
    }

    fileprivate var over: Problem {
        switch self {
        case .event(let key): Problem(.eventEnded, "The event \(key) is over; nothing more is sent for it.")
        case .channel: Problem(.eventEnded, "An end was sent to this channel; nothing follows it. Create another.")
        case .token:
            Problem(.eventEnded, "An end was sent to this token; the activity is over, and no update follows.")
        }
    }
}
