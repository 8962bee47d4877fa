/// A change of data that lookups depend on.
package struct LookupChange: Sendable, Hashable {
    package enum Subject: Sendable, Hashable {
        /// The answer for an event may have changed, or the event was removed.
        case event(EventKey)
        /// The answer for every event may have changed.
        case everything
        /// An API key was created, changed or revoked.
        case keys
    }

    /// The ID of the transaction that made the change. Each transaction announces a subject at most once. Transactions
    /// do not commit in the order of their IDs.
    package var version: UInt64
    package var subject: Subject

    package init(version: UInt64, subject: Subject) {
        self.version = version
        self.subject = subject
    }
}

/// A position in the journal: the set of transactions that are visible at this position.
package struct LookupPosition: Sendable, Hashable {
    /// The position in the source's own format.
    package var text: String
    /// All changes with a smaller version are visible at this position.
    package var floor: UInt64

    package init(text: String, floor: UInt64) {
        self.text = text
        self.floor = floor
    }
}
