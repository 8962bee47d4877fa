/// One fixture of a calendar.
package struct CalendarEntry: Sendable, Hashable {
    /// The number of its first line, from 1.
    package var line: Int
    package var uid: String
    /// Seconds since 1970.
    package var startsAt: Int
    /// `nil`: the calendar has none.
    package var endsAt: Int?
    package var isCancelled: Bool
    /// If two entries have the same UID, the one with the higher number is newer.
    package var sequence: Int
    /// The values of the names that templates use.
    package var values: [String: String]

    package init(
        line: Int, uid: String, startsAt: Int, endsAt: Int? = nil, isCancelled: Bool = false, sequence: Int = 0,
        values: [String: String] = [:]
    ) {
        self.line = line
        self.uid = uid
        self.startsAt = startsAt
        self.endsAt = endsAt
        self.isCancelled = isCancelled
        self.sequence = sequence
        self.values = values
    }
}

/// The content of a calendar: entries with distinct UIDs, and the faults of single entries.
package struct CalendarFile: Sendable, Hashable {
    package private(set) var entries: [CalendarEntry] = []
    package private(set) var faults: [CalendarFault] = []
    private var places: [String: Int] = [:]

    package init() {}

    mutating func add(_ entry: CalendarEntry) {
        guard let place = places[entry.uid] else {
            places[entry.uid] = entries.count
            entries.append(entry)
            return
        }
        let other = entries[place]
        if entry.sequence > other.sequence {
            entries[place] = entry
        } else if entry.sequence == other.sequence {
            faults.append(
                CalendarFault(
                    line: entry.line,
                    "The UID \(entry.uid) is already used on line \(other.line). The first entry is used.",
                    uid: entry.uid))
        }
    }

    mutating func add(_ fault: CalendarFault) { faults.append(fault) }
}
