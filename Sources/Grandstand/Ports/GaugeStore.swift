package import APNsWire
package import FoundationEssentials

/// The metrics of the database as a whole, reported by one replica at a time: were each to report them, sums over
/// replicas would be too high.
package protocol GaugeStore: Sendable {
    /// Takes or renews the right to tell, until `seconds` from now by the database's clock.
    ///
    /// - Returns: until when; `nil`: another replica has it.
    func lead(_ replica: UUID, for seconds: TimeInterval) async throws -> Date?

    /// Gives the right back, if this replica has it.
    func resign(_ replica: UUID) async throws

    /// The work that waits now. The cost depends on its amount, not on history.
    func backlog(now: Date) async throws -> Backlog
}

/// The work that waits in the database.
package struct Backlog: Sendable, Hashable {
    /// Deliveries that are not settled, of one environment.
    package struct Deliveries: Sendable, Hashable {
        package var byState: [Delivery.State: Int]
        /// When the oldest that may go to APNs was accepted or was to go; `nil`: none waits. Messages to crowds do not count,
        /// which take as long as their crowd is large, nor do those whose channel is still to come.
        package var oldest: Date?

        package init(byState: [Delivery.State: Int] = [:], oldest: Date? = nil) {
            self.byState = byState
            self.oldest = oldest
        }
    }

    package var deliveries: [APNsEnvironment: Deliveries]
    /// When the oldest message that waits for its webhook was written.
    package var oldestWebhookMessage: Date?
    /// When the newest reconciliation that went through ended, or its app was registered.
    package var reconciledAt: [AppEnvironment: Date]
    /// The room that the database takes on its disk.
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
