/// The changes that a replica still has to read. Pure: it uses no clock and no database.
///
/// A change is announced, found in the journal, or both; it is read once. A change that was found but not announced is
/// read like the others. If the journal cannot tell what was missed, because listening began again or on another
/// timeline, everything is read.
package struct LookupBacklog: Sendable {
    /// Events to be read again.
    package private(set) var keys: Set<EventKey> = []
    /// Whether everything must be read; at first it must.
    package private(set) var needsReading = true
    /// Whether everything is being read.
    package private(set) var isReading = false
    /// Up to where the journal was read; `nil` before the first reading.
    package private(set) var position: LookupPosition?
    /// Changes that were announced and not found in the journal yet.
    private var heard: Set<LookupChange> = []
    /// Changes that were found. Each look from `position` finds them again, because a look at a standby cannot tell
    /// what had been committed.
    private var found: Set<LookupChange> = []
    private var hasListened = false

    package init() {}

    /// Whether memory is complete once `keys` are read, too.
    package var isWhole: Bool { position != nil && !needsReading && !isReading }

    /// Listening began. At the first time, the journal has the announcements since the first reading began. After a
    /// lost connection it may be another server's journal, so everything is read.
    package mutating func listening() {
        if hasListened { needsReading = true }
        hasListened = true
    }

    /// The journal was not read for so long that it may have deleted changes.
    package mutating func forgetPosition() { needsReading = true }

    package mutating func hear(_ change: LookupChange) {
        heard.insert(change)
        note(change)
    }

    /// The journal was read on from `start` to `end`.
    ///
    /// - Returns: the changes that were not announced so far; their announcements may still be on the way.
    package mutating func find(
        _ changes: [LookupChange], from start: LookupPosition, to end: LookupPosition
    ) -> [LookupChange] {
        // Everything is read from another position by now.
        guard position == start else { return [] }
        let news = changes.filter { found.insert($0).inserted }.filter { heard.remove($0) == nil }
        news.forEach { note($0) }
        position = end
        // Drops announcements that came after their change was found.
        heard = heard.filter { $0.version >= start.floor }
        found = found.filter { $0.version >= end.floor }
        return news
    }

    /// Everything is read from now on, in its state at `position` or later.
    package mutating func beginReading(at position: LookupPosition) {
        self.position = position
        heard = []
        found = []
        needsReading = false
        isReading = true
    }

    /// Everything was read. Otherwise it must be read again.
    package mutating func endReading(complete: Bool) {
        isReading = false
        if !complete { needsReading = true }
    }

    /// Hands out all keys; a caller that cannot read them gives them back.
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
