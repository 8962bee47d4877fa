package import FoundationEssentials

/// How long rows are kept after their last use.
package struct RetentionRule: Sendable, Hashable {
    /// The kinds of rows with a retention; `rawValue` is their name in the log.
    package enum Rows: String, Sendable, CaseIterable {
        /// Settled broadcasts. An event's newest content stays.
        case broadcasts
        /// Events that are over, with all their rows. An event stays while it has a channel at Apple, a waiting message
        /// or an open start.
        case events
        /// Deleted channels, with the messages that were sent to them.
        case channels
        /// Lanes of audiences that were removed.
        case lanes
        /// API keys that were revoked or expired.
        case keys
        /// Entries of the audit log, in whole days. Entries younger than 30 days always stay.
        case auditEntries = "audit entries"
        /// Stored answers to requests with an `Idempotency-Key`.
        case answers = "kept answers"
        /// Settled webhook messages with their attempts, and messages that wait for a disabled webhook.
        case webhookMessages = "webhook messages"
        /// Installations that were not seen during the retention, with all their rows.
        case installations
        /// Activities without a report during the retention. No activity exists on a device for longer than half a day.
        case activities
        /// Rows of past hours in `device_accounts`. They are added up to one row for each app.
        case deviceHours = "hours of device accounts"
    }

    package let rows: Rows
    /// Seconds for which a row is kept after its end: its settlement, expiry, last report or last use.
    package let keep: TimeInterval

    package init(_ rows: Rows, keep: TimeInterval) {
        self.rows = rows
        self.keep = keep
    }

    /// How many rows one statement deletes. The number is small, so that no other transaction waits long for the
    /// statement.
    package var step: Int {
        switch rows {
        // An event has about twenty rows in addition to its messages.
        case .events: 50
        case .channels: 100
        case .auditEntries: 5_000
        default: 500
        }
    }
}
