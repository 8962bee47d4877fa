internal import Grandstand

/// A change of data that lookups depend on.
struct LookupChange: Sendable, Hashable {
    enum Subject: Sendable, Hashable {
        /// The answer for an event may have changed, or the event was removed.
        case event(EventKey)
        /// The answer for every event may have changed.
        case everything
        /// An API key was created, changed or revoked.
        case keys
    }

    /// The ID of the transaction that made the change. Each transaction announces a subject at most once. Transactions
    /// do not commit in the order of their IDs.
    var version: UInt64
    var subject: Subject
}

/// A position in the journal: the set of transactions that are visible at this position.
struct LookupPosition: Sendable, Hashable {
    /// The position in the source's own format.
    var text: String
    /// All changes with a smaller version are visible at this position.
    var floor: UInt64
}
