package import FoundationEssentials

/// How long rows are kept that nothing needs any more.
package struct RetentionRule: Sendable, Hashable {
    /// The kinds of rows that have a retention; `rawValue` names them in the log.
    package enum Rows: String, Sendable, CaseIterable {
        /// Settled broadcasts, and tokens that were pushed to with the last push. The newest content of an event stays.
        case broadcasts
        /// Events that are over, with all that is theirs. An event stays while it has a channel at Apple, a message that
        /// waits, or a start that is open.
        case events
        /// Channels that were deleted, with what was sent to them.
        case channels
        /// Lanes of audiences that were removed.
        case lanes
        /// API keys that were revoked or expired.
        case keys
        /// Entries of the audit log, in whole days; what is younger than 30 days stays.
        case auditEntries = "audit entries"
        /// First answers to requests with an `Idempotency-Key`.
        case answers = "kept answers"
        /// Webhook messages that are settled, with their attempts, and what is queued for a disabled webhook.
        case webhookMessages = "webhook messages"
        /// Installations that were not seen since, with all that is theirs.
        case installations
        /// Activities that were not reported since: Apple keeps none for half a day.
        case activities
        case receipts
        /// Hours of `device_accounts`: they are added up.
        case deviceHours = "hours of device accounts"
    }

    package let rows: Rows
    /// Seconds after their end.
    package let keep: TimeInterval

    package init(_ rows: Rows, keep: TimeInterval) {
        self.rows = rows
        self.keep = keep
    }

    /// How many rows one statement deletes, so that no other transaction waits for it.
    package var step: Int {
        switch rows {
        // An event has a score of rows besides its messages.
        case .events: 50
        case .channels: 100
        case .auditEntries: 5_000
        default: 500
        }
    }
}
