package import FoundationEssentials
package import Grandstand

/// Where broadcasts come in: each is planned by the pure `DeliveryPlan` and made durable before it is answered.
package struct Intake: Sendable {
    private let outbox: any Outbox
    private let now: @Sendable () -> Date
    private let bulk = Semaphore(places: bulkPlaces)

    /// Items from which a call counts as bulk.
    static let bulkSize = 50
    /// Bulk calls that are accepted at a time. A call of 500 keeps a processor and a connection for a tenth of a second:
    /// four of them left none to a single goal of another app, and little to the sends they were made for; two gained
    /// nothing over one.
    static let bulkPlaces = 1

    package init(outbox: any Outbox, now: @escaping @Sendable () -> Date) {
        self.outbox = outbox
        self.now = now
    }

    /// Accepts one broadcast: when this returns, it and its deliveries are committed.
    ///
    /// - Throws: the `Problem` for which it is refused; nothing was changed then.
    package func accept(_ request: BroadcastRequest, for target: BroadcastTarget) async throws -> Broadcast {
        let results = try await accept([BroadcastIntake(target, request: request)])
        guard let result = results.first else {
            throw Problem(.internalError, "The outbox answered nothing for the broadcast.")
        }
        return try result.get()
    }

    /// Accepts many broadcasts in order, each on its own, in one commit.
    package func accept(_ items: [BroadcastIntake]) async throws -> [Result<Broadcast, Problem>] {
        guard items.count >= Self.bulkSize else { return try await outbox.accept(items, now: now(), plan: Self.plan) }
        return try await bulk.withPlace { try await outbox.accept(items, now: now(), plan: Self.plan) }
    }

    /// The rule the outbox asks inside its transaction.
    static let plan: DeliveryPlanning = { request, audiences, now throws(Problem) in
        try DeliveryPlan(request, audiences: audiences, now: now)
    }
}
