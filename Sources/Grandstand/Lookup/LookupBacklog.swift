/// The changes that a replica must still read. Pure: it uses no clock and no database.
///
/// A change may be announced, be found in the journal, or both. It is read once. A change that was found but not
/// announced is read like the others. Sometimes the journal cannot show what was missed, because the connection was
/// lost or the database changed its timeline. Then everything is read.
package struct LookupBacklog: Sendable {
    /// Events that must be read again.
    package private(set) var keys: Set<EventKey> = []
    /// Whether everything must be read. Initially it must.
    package private(set) var needsReading = true
    /// Whether everything is being read.
    package private(set) var isReading = false
    /// The position up to which the journal was read; `nil` before the first reading.
    package private(set) var position: LookupPosition?
    /// Changes that were announced, but not found in the journal yet.
    private var heard: Set<LookupChange> = []
    /// Changes that were found. A search from `position` finds them again, because at a standby the search does not
    /// know what was committed.
    private var found: Set<LookupChange> = []
    private var hasListened = false

    package init() {}

    /// Whether memory is complete once `keys` are read.
    package var isWhole: Bool { position != nil && !needsReading && !isReading }

    /// Records that listening began. When it begins for the first time, the journal has the announcements since the
    /// first reading began. After a lost connection it may be another server's journal, so everything is read.
    package mutating func listening() {
        if hasListened { needsReading = true }
        hasListened = true
    }

    /// Records that the journal was not read for a long time, so that it may have deleted changes.
    package mutating func forgetPosition() { needsReading = true }

    package mutating func hear(_ change: LookupChange) {
        heard.insert(change)
        note(change)
    }

    /// Records that the journal was read from `start` to `end`.
    ///
    /// - Returns: the changes that were not announced yet. Their announcements may still come.
    package mutating func find(
        _ changes: [LookupChange], from start: LookupPosition, to end: LookupPosition
    ) -> [LookupChange] {
        // Meanwhile everything is being read from another position.
        guard position == start else { return [] }
        let news = changes.filter { found.insert($0).inserted }.filter { heard.remove($0) == nil }
        news.forEach { note($0) }
        position = end
        // Drops announcements that came after their change was found.
        heard = heard.filter { $0.version >= start.floor }
        found = found.filter { $0.version >= end.floor }
        return news
    }

    /// Records that a reading of everything begins. It reads the state at `position` or later.
    package mutating func beginReading(at position: LookupPosition) {
        self.position = position
        heard = []
        found = []
        needsReading = false
        isReading = true
    }

    /// Records that the reading of everything ended. If it is not complete, everything must be read again.
    package mutating func endReading(complete: Bool) {
        isReading = false
        if !complete { needsReading = true }
    }

    /// Returns all keys and removes them. A caller that cannot read them gives them back.
    package mutating func take() -> [EventKey] {
        defer { keys = [] }
        return Array(keys)
    }

    package mutating func giveBack(_ keys: [EventKey]) { self.keys.formUnion(keys) }

    private mutating func note(_ change: LookupChange) {
        switch change.subject {
        case .event(let key): keys.insert(key)
        case .everything: needsReading = true
        case .keys: break
        }
    }
}
