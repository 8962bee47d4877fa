internal import FoundationEssentials
internal import Grandstand

/// Accepts broadcasts. Each broadcast is planned by the pure `DeliveryPlan`, and is committed before the caller gets an
/// answer.
struct Intake: Sendable {
    private let outbox: any Outbox
    private let plan: DeliveryPlanning
    private let now: @Sendable () -> Date
    private let bulk = Semaphore(permits: bulkPermits)
    private let batches = Semaphore(permits: batchPermits)

    /// A call with at least this many items counts as bulk.
    static let bulkSize = 50
    /// The maximum number of bulk calls that are accepted at the same time. A call with 500 items uses a processor and
    /// a connection for a tenth of a second. With four such calls at a time, no processor or connection was left for a
    /// single urgent message. Two bulk calls at a time were not faster than one.
    static let bulkPermits = 1
    /// The maximum number of calls with several items, but fewer than `bulkSize`, that are accepted at the same time.
    static let batchPermits = 2

    init(outbox: any Outbox, plan: @escaping DeliveryPlanning = planning(), now: @escaping @Sendable () -> Date) {
        self.outbox = outbox
        self.plan = plan
        self.now = now
    }

    /// Accepts one broadcast. When this method returns, the broadcast and its deliveries are committed.
    ///
    /// - Throws: the `Problem` that refuses the broadcast; after a refusal, nothing was changed.
    func accept(_ intake: BroadcastIntake) async throws -> Broadcast {
        let results = try await accept([intake])
        guard let result = results.first else {
            throw Problem(.internalError, "The outbox answered nothing for the broadcast.")
        }
        return try result.get()
    }

    /// The preview of a broadcast; nothing is changed.
    ///
    /// - Throws: the `Problem` that would refuse the broadcast.
    func rehearse(_ intake: BroadcastIntake) async throws -> BroadcastRehearsal {
        try await outbox.rehearse(intake, now: now(), plan: plan)
    }

    /// Decides what a reported state of an event sends. When this method returns, the decision and its message are
    /// committed.
    ///
    /// - Returns: the broadcast for the state; `nil`: nothing is new.
    /// - Throws: the `Problem` that refuses the state; after a refusal, nothing was changed.
    func tell(_ state: StateIntake) async throws -> Broadcast? {
        try await outbox.tell(state, now: now(), plan: plan)
    }

    /// The preview of a state; nothing is changed.
    ///
    /// - Throws: the `Problem` that would refuse the state.
    func rehearse(_ state: StateIntake) async throws -> StateRehearsal {
        try await outbox.rehearse(state, now: now(), plan: plan)
    }

    /// Accepts many broadcasts in order, each independently, in one commit. The caller must hold a permit of
    /// `turn(for:)`.
    func accept(_ items: [BroadcastIntake]) async throws -> [Result<Broadcast, Problem>] {
        try await outbox.accept(items, now: now(), plan: plan)
    }

    /// The semaphore at which a call with this many items waits before it takes a database connection. Without this
    /// wait, large calls would hold all connections, and urgent messages would wait for a connection. `nil`: the call
    /// need not wait.
    func turn(for items: Int) -> Semaphore? {
        if items >= Self.bulkSize { return bulk }
        return items > 1 ? batches : nil
    }

    /// The planning function that the outbox calls inside its transaction.
    ///
    /// - Parameter alertFreshness: seconds after which an alert is too old, if the broadcast has no `expiresIn`.
    static func planning(alertFreshness: TimeInterval = DeliveryPlan.alertFreshness) -> DeliveryPlanning {
        { request, audiences, now throws(Problem) in
            try DeliveryPlan(request, audiences: audiences, now: now, alertFreshness: alertFreshness)
        }
    }
}
