package import APNsWire
package import FoundationEssentials

/// Decides the deliveries of a request to these audiences at this time. An outbox calls it inside its transaction.
/// Pure.
package typealias DeliveryPlanning = @Sendable (BroadcastRequest, [Audience], Date) throws(Problem) -> DeliveryPlan

/// The durable queue of broadcasts to Apple. An accepted broadcast is sent, is replaced by newer state, or expires.
package protocol Outbox: Sendable {
    /// Accepts broadcasts in order, each independently, in one transaction. The broadcast, its deliveries and the
    /// newest state commit together. Right after the commit, the loops that have work are woken.
    ///
    /// - Parameter plan: decides the deliveries. It gets the audiences of the item's event that still take messages.
    /// - Returns: one result for each item, in order.
    func accept(
        _ items: [BroadcastIntake], now: Date,
        plan: @escaping DeliveryPlanning
    ) async throws -> [Result<Broadcast, Problem>]

    /// The preview of a broadcast to an event, as if the server accepted it now. It changes nothing.
    ///
    /// - Throws: the `Problem` with which the broadcast would be refused.
    func rehearse(
        _ intake: BroadcastIntake, now: Date, plan: @escaping DeliveryPlanning
    ) async throws -> BroadcastRehearsal

    /// Decides what a reported state of an event sends, under the event's lock, and accepts the message.
    ///
    /// - Returns: the broadcast of the state; `nil`: nothing is new.
    /// - Throws: the `Problem` with which the state is refused. Then nothing was changed.
    func tell(_ state: StateIntake, now: Date, plan: @escaping DeliveryPlanning) async throws -> Broadcast?

    /// The preview of a state, as if the server accepted it now. It changes nothing.
    ///
    /// - Throws: the `Problem` with which the state would be refused.
    func rehearse(_ state: StateIntake, now: Date, plan: @escaping DeliveryPlanning) async throws -> StateRehearsal

    /// A broadcast with its deliveries within `reach`.
    ///
    /// - Throws: `forbidden` if its event or channel is out of reach.
    func broadcast(_ id: UUID, within reach: AppReach) async throws -> Broadcast?

    /// An event's broadcasts, the newest first, with their deliveries within `reach`; empty for an event out of reach.
    func broadcasts(of key: EventKey, within reach: AppReach, _ page: PageRequest) async throws -> Page<Broadcast>

    /// The broadcasts of an event that wait for their `sendAt`, the next one first; empty for an event out of reach.
    func scheduled(of key: EventKey, within reach: AppReach, _ page: PageRequest) async throws -> Page<Broadcast>

    /// Withdraws a broadcast that was sent to nobody, and logs the actor. The content before the broadcast's is the
    /// newest again. If the broadcast had superseded an unsent update, the update is sent. If the broadcast had ended
    /// an event or a lane, the end is undone.
    ///
    /// - Returns: whether the broadcast could be withdrawn; `nil`: there is no such broadcast.
    /// - Throws: `forbidden` if its event or channel is out of `reach`.
    func cancel(_ id: UUID, within reach: AppReach, by actor: AuditActor, now: Date) async throws -> Bool?

    /// Puts scheduled broadcasts whose time has come into their lanes.
    ///
    /// - Returns: the number of broadcasts.
    func promote(now: Date, limit: Int, plan: @escaping DeliveryPlanning) async throws -> Int

    /// When the next scheduled broadcast is due; `nil`: none waits.
    func nextScheduled() async throws -> Date?

    /// Leases due lanes of one environment and takes the head of each. At most one message of a lane is under way.
    ///
    /// Apps take turns, so that a burst of one app does not delay others. An app's lanes are ordered by `Lane.rank`,
    /// then by how long they are due. Under a limit, a lane that has waited long comes before more urgent lanes that
    /// have not waited long (`LaneLimit`).
    func claim(_ claim: LaneClaim) async throws -> [ClaimedDelivery]

    /// Sets the end of this replica's leases on these lanes to `leasedUntil`, because the replica still works on the
    /// lanes. Lanes that another transaction has locked are skipped: nobody can claim them meanwhile.
    func extendLeases(of lanes: [Int], replica: UUID, until leasedUntil: Date) async throws

    /// Records a verdict and ends the lease of the delivery's lane. Verdicts that come at about the same time are
    /// recorded together. If another replica has the lease by now, the verdict changes nothing.
    ///
    /// - Parameter settlement: `nil`: the message was not sent. The attempt does not count.
    /// - Returns: whether the verdict is recorded; `false`: another transaction has locked the lane. This call does not
    ///   wait for the other transaction, so the verdict must be recorded again.
    func settle(
        _ delivery: ClaimedDelivery, _ settlement: Settlement?, replica: UUID, now: Date
    ) async throws -> Bool

    /// When the next lane of the environment is due; `nil`: none waits.
    ///
    /// - Parameter limits: lanes of an app that may send nothing now are left out.
    func nextDue(in environment: APNsEnvironment, limits: [LaneLimit]) async throws -> Date?
}

extension Outbox {
    /// When the next lane of the environment is due, without regard to limits; `nil`: none waits.
    package func nextDue(in environment: APNsEnvironment) async throws -> Date? {
        try await nextDue(in: environment, limits: [])
    }
}

/// One broadcast to accept.
package struct BroadcastIntake: Sendable, Hashable {
    package var target: BroadcastTarget
    package var request: BroadcastRequest
    /// The actor of the request.
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

    /// Whether it is an update that takes the newest content when it is sent.
    package var lacksContent: Bool { request.payload.event == .update && request.payload.contentState == nil }
}

/// One reported state of an event.
package struct StateIntake: Sendable {
    package var eventKey: EventKey
    package var report: StateReport
    /// The actor that reports the state.
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

    package var eventKey: EventKey? { if case .event(let key) = self { key } else { nil } }

    package var channel: UUID? { if case .channel(let id) = self { id } else { nil } }
}

/// The parameters of a dispatcher's claim.
package struct LaneClaim: Sendable, Hashable {
    package var environment: APNsEnvironment
    /// The most lanes to lease.
    package var limit: Int
    package var replica: UUID
    /// When the claim was made, by the dispatcher's clock.
    package var at: Date
    package var leasedUntil: Date
    /// Seconds between two messages of a lane, counted from the time at which the first of the two was due.
    package var laneInterval: TimeInterval
    /// The limits of apps that APNs throttles. Other apps have no limit.
    package var limits: [LaneLimit]
    /// Lanes that the replica still works on. The replica does not take these lanes again, even if it could not extend
    /// their leases and the leases ended.
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

/// The number of lanes of one app that may be claimed now.
package struct LaneLimit: Sendable, Hashable {
    package var bundleID: BundleID
    package var allowance: Int
    /// The rate of this replica, in messages a second. A lane that has waited for longer than this rate needs for one
    /// message of each waiting lane comes before all lanes that have not, whatever their ranks.
    package var perSecond: Double

    package init(bundleID: BundleID, allowance: Int, perSecond: Double) {
        self.bundleID = bundleID
        self.allowance = allowance
        self.perSecond = perSecond
    }
}

/// The head of a leased lane, ready to be sent.
package struct ClaimedDelivery: Sendable, Hashable {
    package var id: Int
    package var lane: Int
    package var address: APNsAddress
    package var storagePolicy: StoragePolicy
    /// The request to APNs.
    package var message: BroadcastMessage
    /// The number of requests to Apple for this message, including the next one.
    package var attempts: Int
    package var expiresAt: Date
    /// When the message was accepted, or its `sendAt`; `nil`: not known.
    package var askedAt: Date?

    package init(
        id: Int, lane: Int, address: APNsAddress, storagePolicy: StoragePolicy, message: BroadcastMessage,
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

    /// Whether the delivery's deadline, or the time in its `apns-expiration` header, has passed. A request with a past
    /// time in the header is never made.
    package func isExpired(at now: Date) -> Bool {
        expiresAt <= now || message.expiration != 0 && Double(message.expiration) <= now.timeIntervalSince1970
    }
}

/// A verdict on a claimed delivery, with its time.
package struct Settlement: Sendable, Equatable {
    package var delivery: Int
    package var lane: Int
    package var verdict: Verdict
    /// When the answer came, or when it was clear that none would come.
    package var at: Date
    /// `false`: APNs is known not to have processed the request (`APNsAnswer.mayBeProcessed`).
    package var mayBeProcessed: Bool
    /// Nothing is sent on the lane before this time, because APNs throttles the lane; `nil`: no limit.
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
