/// The changes that a replica still has to read: decisions without clock or database.
///
/// A change is heard, found in the journal, or both; it is read once. A change in the journal that was not announced is
/// a gap, and is read like the rest. Where the journal cannot tell, because listening began anew or on another
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
    /// Heard, and not seen in the journal yet.
    private var heard: Set<LookupChange> = []
    /// Found, and found again by every look from `position`: one at a standby cannot tell what had been committed.
    private var found: Set<LookupChange> = []
    private var hasListened = false

    package init() {}

    /// Whether what was read so far can be called true once `keys` are read too.
    package var isWhole: Bool { position != nil && !needsReading && !isReading }

    /// Listening began. The first time the journal tells what was announced before, since the first reading's begin;
    /// after a lost connection it may be another server's journal.
    package mutating func listening() {
        if hasListened { needsReading = true }
        hasListened = true
    }

    /// The journal was not read for so long that it may have forgotten something.
    package mutating func forgetPosition() { needsReading = true }

    package mutating func hear(_ change: LookupChange) {
        heard.insert(change)
        note(change)
    }

    /// The journal was read on from `start` to `end`.
    ///
    /// - Returns: the changes that had not been announced. An announcement may also be on its way still.
    package mutating func find(
        _ changes: [LookupChange], from start: LookupPosition, to end: LookupPosition
    ) -> [LookupChange] {
        // A reading of everything has set another position meanwhile, and goes by that.
        guard position == start else { return [] }
        let news = changes.filter { found.insert($0).inserted }.filter { heard.remove($0) == nil }
        news.forEach { note($0) }
        position = end
        // Announcements that came after their line was found.
        heard = heard.filter { $0.version >= start.floor }
        found = found.filter { $0.version >= end.floor }
        return news
    }

    /// Everything is being read from now on, as it is at `position` or later.
    package mutating func beginReading(at position: LookupPosition) {
        self.position = position
        heard = []
        found = []
        needsReading = false
        isReading = true
    }

    /// Everything was read, or could not be and must be again.
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
