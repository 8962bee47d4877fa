package import APNsWire
package import FoundationEssentials

/// The metrics of the database as a whole.
package protocol GaugeStore: Sendable {
    /// The work that waits now. The cost of the query depends on the amount of this work, not on the amount of history.
    func backlog(now: Date) async throws -> Backlog
}

/// The work that waits in the database.
package struct Backlog: Sendable, Hashable {
    /// The unsettled deliveries of one environment.
    package struct Deliveries: Sendable, Hashable {
        package var byState: [Delivery.State: Int]
        /// When the oldest delivery that could be sent was accepted, or its `sendAt`; `nil`: none waits. Messages whose
        /// channel does not exist yet are ignored. Messages to crowds are ignored, too, because a large crowd takes
        /// long.
        package var oldest: Date?

        package init(byState: [Delivery.State: Int] = [:], oldest: Date? = nil) {
            self.byState = byState
            self.oldest = oldest
        }
    }

    package var deliveries: [APNsEnvironment: Deliveries]
    /// When the oldest message that waits for its webhook was written.
    package var oldestWebhookMessage: Date?
    /// When the newest successful reconciliation ended; if there was none, when the app was registered.
    package var reconciledAt: [AppEnvironment: Date]
    /// The size of the database on disk, in bytes.
    package var databaseBytes: Int

    package init(
        deliveries: [APNsEnvironment: Deliveries], oldestWebhookMessage: Date?, reconciledAt: [AppEnvironment: Date],
        databaseBytes: Int = 0
    ) {
        self.deliveries = deliveries
        self.oldestWebhookMessage = oldestWebhookMessage
        self.reconciledAt = reconciledAt
        self.databaseBytes = databaseBytes
    }
}
