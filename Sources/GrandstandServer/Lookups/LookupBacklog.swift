internal import Grandstand

/// The changes that a replica must still read. Pure: it uses no clock and no database.
///
/// A change may be announced, be found in the journal, or both. A change that was announced is not read again when it
/// is found in the journal. A change that was found but not announced is read, too; if it is announced later, it is
/// read once more. Sometimes the journal cannot show what was missed, because the connection was lost or the database
/// changed its timeline. In this case everything is read.
///
/// Changes of this process are recorded at once. After this process changed an event, memory must not answer for the
/// event until the event was read in a round that began later.
struct LookupBacklog: Sendable {
    /// One round of reading single events.
    struct Round: Sendable {
        let keys: [EventKey]
        let number: Int
    }

    /// A change that this process has made. The next round with a greater number reads it.
    struct OwnChange: Sendable, Hashable {
        let number: Int
        let at: ContinuousClock.Instant
    }

    /// Events that must be read again.
    private(set) var keys: Set<EventKey> = []
    /// Whether everything must be read. At first this is true.
    private(set) var needsReading = true
    /// Whether everything is being read.
    private(set) var isReading = false
    /// The position up to which the journal was read; `nil` before the first reading.
    private(set) var position: LookupPosition?
    /// Changes that were announced, but not found in the journal yet.
    private var announced: Set<LookupChange> = []
    private var hasListened = false
    /// Events that this process has changed and not read since.
    private var ownChanges: [EventKey: OwnChange] = [:]
    /// The number of this process's last change.
    private(set) var lastOwnChange = 0
    /// The last number that was given. Own changes and rounds are numbered in one sequence, which shows what came
    /// first.
    private var number = 0

    /// Whether memory is complete once `keys` are read.
    var isWhole: Bool { position != nil && !needsReading && !isReading }

    /// Whether no new reading is needed now.
    var isIdle: Bool { keys.isEmpty && (!needsReading || isReading) }

    /// Records that listening began. When listening begins for the first time, no change is missed, because the journal
    /// has all changes since the first reading of everything began. After a lost connection the journal may be another
    /// server's, so everything is read.
    mutating func listening() {
        if hasListened { needsReading = true }
        hasListened = true
    }

    /// Records that the journal was not read for a long time. Changes may have been deleted from the journal meanwhile,
    /// so everything must be read.
    mutating func forgetPosition() { needsReading = true }

    mutating func hear(_ change: LookupChange) {
        announced.insert(change)
        note(change)
    }

    /// Records that the journal was read from `start` to `end`.
    ///
    /// - Returns: the changes that were not announced yet. Their announcements may still come.
    mutating func find(
        _ changes: [LookupChange], from start: LookupPosition, to end: LookupPosition
    ) -> [LookupChange] {
        // If the positions differ, a reading of everything has begun meanwhile, at another position.
        guard position == start else { return [] }
        let news = changes.filter { announced.remove($0) == nil }
        news.forEach { note($0) }
        position = end
        // Drops announcements that came after their change was found: all changes below `start.floor` were visible
        // before this reading of the journal.
        announced = announced.filter { $0.version >= start.floor }
        return news
    }

    /// - Returns: `true`: the caller must read everything.
    mutating func startReading() -> Bool {
        guard needsReading, !isReading else { return false }
        isReading = true
        return true
    }

    /// Records that a reading of everything begins. It reads the state at `position` or later.
    mutating func beginReading(at position: LookupPosition) {
        self.position = position
        announced = []
        needsReading = false
        isReading = true
    }

    /// Records that the reading of everything ended. If it is not complete, everything must be read again.
    mutating func endReading(complete: Bool) {
        isReading = false
        if !complete { needsReading = true }
    }

    /// Records that this process has changed these events.
    mutating func change(_ keys: [EventKey], at moment: ContinuousClock.Instant) {
        guard !keys.isEmpty else { return }
        number += 1
        lastOwnChange = number
        for key in keys { ownChanges[key] = OwnChange(number: number, at: moment) }
        giveBack(keys)
    }

    /// This process's last change of the event; `nil`: this process did not change the event, or the event was read
    /// after the change.
    func unread(_ key: EventKey) -> OwnChange? { ownChanges[key] }

    /// The number of this process's last change, and the time of the first change that was not read yet; `nil`: all
    /// changes were read.
    var unread: OwnChange? {
        ownChanges.values.lazy.map(\.at).min().map { OwnChange(number: lastOwnChange, at: $0) }
    }

    /// Begins a round that reads all keys. A caller that cannot read them gives them back.
    mutating func take() -> Round {
        defer { keys = [] }
        number += 1
        return Round(keys: Array(keys), number: number)
    }

    /// Records that an event was read in `round`. If this process changed the event again since the round began, the
    /// event must be read once more.
    mutating func read(_ key: EventKey, in round: Round) {
        if let change = ownChanges[key], change.number < round.number { ownChanges[key] = nil }
    }

    mutating func giveBack(_ keys: [EventKey]) { self.keys.formUnion(keys) }

    private mutating func note(_ change: LookupChange) {
        switch change.subject {
        case .event(let key): keys.insert(key)
        case .everything: needsReading = true
        case .keys: break
        }
    }
}
