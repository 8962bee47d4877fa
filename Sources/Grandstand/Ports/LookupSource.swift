package import FoundationEssentials

/// The source of the lookup's answers and of their changes.
///
/// Whatever changes an answer leaves a line in a journal and is announced, in the transaction of the change. The
/// announcement makes it fast; the journal makes sure: it has exactly the changes committed since an earlier look.
package protocol LookupSource: Sendable {
    /// Changes as they are committed, for as long as there is a listener.
    func announcements() -> AsyncStream<LookupAnnouncement>

    /// The journal's present position.
    func position() async throws -> LookupPosition

    /// The changes committed since `position`, whether announced or not, in no order.
    func changes(since position: LookupPosition) async throws -> (changes: [LookupChange], position: LookupPosition)

    /// Forgets the lines of the journal that every replica has read or will not need.
    func tidy() async throws

    /// The records of these events; an event that is not there, or has no audience, is missing.
    func records(of keys: [EventKey]) async throws -> [EventKey: [LookupRecord]]

    /// The next events in order of their keys, with their records.
    ///
    /// - Parameter after: the last key of the page before; `nil` for the first page.
    /// - Returns: at most `limit` events and the key to go on after; `nil` after the last page.
    func page(
        after: EventKey?, limit: Int
    ) async throws -> (records: [EventKey: [LookupRecord]], next: EventKey?)
}

/// An event for a listener.
package enum LookupAnnouncement: Sendable, Hashable {
    /// Listening begins, at first and after each lost connection: earlier announcements are lost.
    case listening
    case change(LookupChange)
}

/// Something lookups depend on has changed.
package struct LookupChange: Sendable, Hashable {
    package enum Subject: Sendable, Hashable {
        /// An event's answer may be another one now, or gone.
        case event(EventKey)
        /// So may every event's.
        case everything
        /// An API key was made, changed or revoked.
        case keys
    }

    /// Of the transaction that made the change. A transaction announces a subject once; versions are not committed in
    /// their order.
    package var version: UInt64
    package var subject: Subject

    package init(version: UInt64, subject: Subject) {
        self.version = version
        self.subject = subject
    }
}

/// A point in the journal: which transactions can be seen from it. At a standby it is not known which of the newest
/// can, so a point there is before all of those: what is found from it may have been found before.
package struct LookupPosition: Sendable, Hashable {
    /// The source's own words.
    package var text: String
    /// All changes with smaller versions can be seen from here.
    package var floor: UInt64
    /// When what is read here was the newest; `nil`: it is now. At a standby that cannot say when, the distant past.
    package var asOf: Date?

    package init(text: String, floor: UInt64, asOf: Date? = nil) {
        self.text = text
        self.floor = floor
        self.asOf = asOf
    }
}
