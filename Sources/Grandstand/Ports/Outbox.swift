package import APNsWire
package import FoundationEssentials

/// The pure decision that an outbox asks for inside its transaction: the deliveries of a request to these audiences at
/// this time.
package typealias DeliveryPlanning = @Sendable (BroadcastRequest, [Audience], Date) throws(Problem) -> DeliveryPlan

/// The durable way of broadcasts to Apple: what is accepted here is sent, replaced by newer state, or expires; nothing
/// else happens to it.
package protocol Outbox: Sendable {
    /// Accepts broadcasts in order, each on its own, in one transaction: the broadcast, its deliveries and the newest
    /// state commit together, the wake-up follows at once.
    ///
    /// - Parameter plan: the pure decision; called with the audiences of the item's event that take messages still.
    /// - Returns: one result for each item, in order.
    func accept(
        _ items: [BroadcastIntake], now: Date,
        plan: @escaping DeliveryPlanning
    ) async throws -> [Result<Broadcast, Problem>]

    /// The preview of a broadcast to an event, as if it were accepted now; changes nothing.
    ///
    /// - Throws: the `Problem` for which it would be refused.
    func rehearse(
        _ intake: BroadcastIntake, now: Date, plan: @escaping DeliveryPlanning
    ) async throws -> BroadcastRehearsal

    /// Decides what a state of an event comes to, under the event's lock, and accepts the message that it needs.
    ///
    /// - Returns: the broadcast that was made of it; `nil`: nothing is new.
    /// - Throws: the `Problem` for which it is refused; nothing was changed then.
    func tell(_ state: StateIntake, now: Date, plan: @escaping DeliveryPlanning) async throws -> Broadcast?

    /// The preview of a state, as if it were told now; changes nothing.
    ///
    /// - Throws: the `Problem` for which it would be refused.
    func rehearse(_ state: StateIntake, now: Date, plan: @escaping DeliveryPlanning) async throws -> StateRehearsal

    /// A broadcast with those of its deliveries that are within `reach`.
    ///
    /// - Throws: `forbidden` for one of an event or channel that is out of it.
    func broadcast(_ id: UUID, within reach: AppReach) async throws -> Broadcast?

    /// An event's broadcasts, the newest first, with those of their deliveries that are within `reach`; none of an event
    /// that is out of it.
    func broadcasts(of key: EventKey, within reach: AppReach, _ page: PageRequest) async throws -> Page<Broadcast>

    /// The broadcasts of an event that wait for their `sendAt`, the next one first; none of an event that is out of
    /// reach.
    func scheduled(of key: EventKey, within reach: AppReach, _ page: PageRequest) async throws -> Page<Broadcast>

    /// Withdraws a broadcast of which nothing was sent, and logs the actor: what was true before it is true again. The
    /// content before it is the newest; an update it had replaced unsent goes after all; an event or lane it had ended
    /// goes on.
    ///
    /// - Returns: whether it could be withdrawn; `nil`: there is no such broadcast, for a push is none.
    /// - Throws: `forbidden` for one of an event or channel that is out of `reach`.
    func cancel(_ id: UUID, within reach: AppReach, by actor: AuditActor, now: Date) async throws -> Bool?

    /// Withdraws a single push in the same way.
    ///
    /// - Returns: whether it could be withdrawn; `nil`: there is no such push.
    /// - Throws: `forbidden` for one to an app that is out of `reach`.
    func cancelPush(_ id: UUID, within reach: AppReach, by actor: AuditActor, now: Date) async throws -> Bool?

    /// Scheduled broadcasts whose time has come go to their lanes.
    ///
    /// - Returns: how many.
    func promote(now: Date, limit: Int, plan: @escaping DeliveryPlanning) async throws -> Int

    /// When the next scheduled broadcast is to go; `nil`: none waits.
    func nextScheduled() async throws -> Date?

    /// Leases due lanes of one environment and takes the head of each: at most one message per lane is under way.
    /// (`accept` does the same for lanes it brings work to, as far as `Departures` allows.)
    ///
    /// Apps take turns, so that a burst of one makes no other wait; an app's lanes go in order of `Lane.rank`, then those
    /// due longest. Under a limit a lane that has waited long goes before ranks that have not (`LaneLimit`).
    func claim(_ claim: LaneClaim) async throws -> [ClaimedDelivery]

    /// A replica that is still at work on these lanes keeps them until `leasedUntil`. A lane that somebody else has locked
    /// is left out: nobody can claim it meanwhile.
    func extendLeases(of lanes: [Int], replica: UUID, until leasedUntil: Date) async throws

    /// Records a verdict and gives its lane back, together with others that come meanwhile. A verdict whose lease has gone
    /// to another replica changes nothing.
    ///
    /// - Parameter settlement: `nil`: the message was not sent. It is given back uncharged.
    /// - Returns: whether it is recorded; `false`: another transaction has locked the lane. It is not waited for, and the
    ///   verdict must be recorded again.
    func settle(
        _ delivery: ClaimedDelivery, _ settlement: Settlement?, replica: UUID, now: Date
    ) async throws -> Bool

    /// When the next lane of the environment will be due; `nil`: none waits.
    ///
    /// - Parameter limits: lanes of an app and kind that may send nothing now are left out.
    func nextDue(in environment: APNsEnvironment, limits: [LaneLimit]) async throws -> Date?
}

extension Outbox {
    /// When the next lane of the environment will be due, if none is throttled.
    package func nextDue(in environment: APNsEnvironment) async throws -> Date? {
        try await nextDue(in: environment, limits: [])
    }
}

/// One broadcast to accept.
package struct BroadcastIntake: Sendable, Hashable {
    package var target: BroadcastTarget
    package var request: BroadcastRequest
    /// The actor that asks.
    package var actor: AuditActor
    /// The reach of the caller.
    package var reach: AppReach

    package init(
        _ target: BroadcastTarget, request: BroadcastRequest, by actor: AuditActor, within reach: AppReach = .all
    ) {
        self.target = target
        self.request = request
        self.actor = actor
        self.reach = reach
    }

    package init(eventKey: EventKey, request: BroadcastRequest, by actor: AuditActor) {
        self.init(.event(eventKey), request: request, by: actor)
    }
}

/// One state of an event to tell.
package struct StateIntake: Sendable {
    package var eventKey: EventKey
    package var report: StateReport
    /// The actor that tells it.
    package var actor: AuditActor
    /// The reach of the caller.
    package var reach: AppReach

    package init(_ eventKey: EventKey, _ report: StateReport, by actor: AuditActor, within reach: AppReach = .all) {
        self.eventKey = eventKey
        self.report = report
        self.actor = actor
        self.reach = reach
    }

    package var target: BroadcastTarget { .event(eventKey) }
}

/// The recipients of a broadcast.
package enum BroadcastTarget: Sendable, Hashable {
    /// The audiences of an event.
    case event(EventKey)
    /// A channel that belongs to no event, by our ID.
    case channel(UUID)
    /// A token of a team's own.
    case token(TokenAddress)

    package var eventKey: EventKey? { if case .event(let key) = self { key } else { nil } }

    package var channel: UUID? { if case .channel(let id) = self { id } else { nil } }

    package var token: TokenAddress? { if case .token(let address) = self { address } else { nil } }
}

/// The claim of a dispatcher.
package struct LaneClaim: Sendable, Hashable {
    package var environment: APNsEnvironment
    /// The most lanes to lease.
    package var limit: Int
    package var replica: UUID
    /// When it was made, by the dispatcher's clock.
    package var at: Date
    package var leasedUntil: Date
    /// Seconds between two messages of a lane, counted from when the first was due.
    package var laneInterval: TimeInterval
    /// Apps that APNs throttles, by kind of lane; any number of the others' lanes may go.
    package var limits: [LaneLimit]
    /// Lanes that the replica still works on. It does not take them again, also if their leases have ended because
    /// somebody else had locked them.
    package var held: Set<Int> = []

    package init(
        environment: APNsEnvironment, limit: Int, replica: UUID, at: Date, leasedUntil: Date,
        laneInterval: TimeInterval, limits: [LaneLimit] = []
    ) {
        self.limits = limits
        self.environment = environment
        self.limit = limit
        self.replica = replica
        self.at = at
        self.leasedUntil = leasedUntil
        self.laneInterval = laneInterval
    }
}

extension LaneClaim {
    /// Whether APNs throttles the lane's app.
    package func limits(_ lane: Lane) -> Bool {
        limits.contains { $0.bundleID == lane.audience.bundleID && $0.kind == lane.kind }
    }
}

/// How many lanes of one app and kind may be claimed now.
package struct LaneLimit: Sendable, Hashable {
    package var bundleID: BundleID
    /// `channel` or `token`.
    package var kind: Lane.Kind
    package var allowance: Int
    /// Seconds in which each lane that waits would have its turn: one that has waited so long goes before any that has
    /// not, whatever their ranks.
    package var patience: TimeInterval

    package init(bundleID: BundleID, kind: Lane.Kind, allowance: Int, patience: TimeInterval) {
        self.bundleID = bundleID
        self.kind = kind
        self.allowance = allowance
        self.patience = patience
    }
}

/// The head of a leased lane, ready to send.
package struct ClaimedDelivery: Sendable, Hashable {
    /// The request.
    package enum Message: Sendable, Hashable {
        case broadcast(BroadcastMessage)
        case push(DevicePush, isStart: Bool)
    }

    package var id: Int
    package var lane: Int
    package var address: APNsAddress
    package var storagePolicy: StoragePolicy
    package var message: Message
    /// Requests to Apple including the one to come.
    package var attempts: Int
    package var expiresAt: Date
    /// When it was accepted, or was to go; `nil`: not known.
    package var askedAt: Date?

    package init(
        id: Int, lane: Int, address: APNsAddress, storagePolicy: StoragePolicy, message: Message,
        attempts: Int, expiresAt: Date, askedAt: Date? = nil
    ) {
        self.askedAt = askedAt
        self.id = id
        self.lane = lane
        self.address = address
        self.storagePolicy = storagePolicy
        self.message = message
        self.attempts = attempts
        self.expiresAt = expiresAt
    }

    /// Whether its time is over, or what it would tell APNs of it: a request with a past epoch is never made.
    package func isExpired(at now: Date) -> Bool {
        expiresAt <= now || message.expiration != 0 && Double(message.expiration) <= now.timeIntervalSince1970
    }
}

extension ClaimedDelivery.Message {
    package var body: [UInt8] {
        switch self {
        case .broadcast(let message): message.body
        case .push(let push, _): push.body
        }
    }

    package var requestID: UUID {
        switch self {
        case .broadcast(let message): message.requestID
        case .push(let push, _): push.requestID
        }
    }

    package var priority: APNsPriority {
        switch self {
        case .broadcast(let message): message.priority
        case .push(let push, _): push.priority
        }
    }

    /// The value of `apns-expiration`.
    package var expiration: Int {
        switch self {
        case .broadcast(let message): message.expiration
        case .push(let push, _): push.expiration
        }
    }

    /// Apple's ID of the channel that it goes to.
    package var channelID: String? { if case .broadcast(let message) = self { message.channelID } else { nil } }

    /// The rules by which its answer is judged.
    package var subject: Verdict.Subject {
        switch self {
        case .broadcast: .broadcast
        case .push(_, isStart: false): .push
        case .push(_, isStart: true): .start
        }
    }
}

/// A verdict on a claimed delivery, and when it was reached.
package struct Settlement: Sendable, Equatable {
    package var delivery: Int
    package var lane: Int
    package var verdict: Verdict
    /// When the answer came, or it was clear that none would.
    package var at: Date
    /// `false`: APNs is known not to have processed the request (`APNsAnswer.mayBeProcessed`).
    package var mayBeProcessed: Bool
    /// Nothing goes on the lane before, because APNs throttles this lane; `nil`: it does not.
    package var notBefore: Date?

    package init(
        delivery: Int, lane: Int, verdict: Verdict, at: Date, mayBeProcessed: Bool = true, notBefore: Date? = nil
    ) {
        self.notBefore = notBefore
        self.delivery = delivery
        self.lane = lane
        self.verdict = verdict
        self.at = at
        self.mayBeProcessed = mayBeProcessed
    }
}
