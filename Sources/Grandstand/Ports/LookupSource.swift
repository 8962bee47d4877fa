/// The source of lookup answers and of their changes.
///
/// Every change of an answer adds a line to a journal and is announced, in the transaction of the change. The
/// announcement is fast. The journal is complete: it has exactly the changes that were committed since an earlier
/// position.
package protocol LookupSource: Sendable {
    /// The changes as they are committed, while the stream has a listener.
    func announcements() -> AsyncStream<LookupAnnouncement>

    /// The journal's present position.
    func position() async throws -> LookupPosition

    /// The changes committed since `position`, announced or not, in no order.
    func changes(since position: LookupPosition) async throws -> (changes: [LookupChange], position: LookupPosition)

    /// Deletes the lines of the journal that every replica has read or will not need.
    func tidy() async throws

    /// The records of these events. Events that do not exist or have no audience are missing.
    func records(of keys: [EventKey]) async throws -> [EventKey: [LookupRecord]]

    /// The next events in order of their keys, with their records.
    ///
    /// - Parameter after: the last key of the page before; `nil` for the first page.
    /// - Returns: at most `limit` events, and the key after which the next page begins; `nil` after the last page.
    func page(
        after: EventKey?, limit: Int
    ) async throws -> (records: [EventKey: [LookupRecord]], next: EventKey?)
}

/// An announcement for a listener.
package enum LookupAnnouncement: Sendable, Hashable {
    /// Listening begins, initially and after each lost connection. Earlier announcements are lost.
    case listening
    case change(LookupChange)
}

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
