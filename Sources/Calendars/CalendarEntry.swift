/// One fixture as a calendar has it.
package struct CalendarEntry: Sendable, Hashable {
    /// Where it begins, from 1.
    package var line: Int
    package var uid: String
    /// Seconds since 1970.
    package var startsAt: Int
    /// `nil`: the calendar does not say.
    package var endsAt: Int?
    package var isCancelled: Bool
    /// Of two entries with one UID the higher is the newer.
    package var sequence: Int
    /// The values that templates may name, as far as they are asked for.
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

/// The content of a calendar's text: entries, each UID once, and the faults of single ones.
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
                    line: entry.line, "The UID \(entry.uid) stands on line \(other.line) already; the first counts.",
                    uid: entry.uid))
        }
    }

    mutating func add(_ fault: CalendarFault) { faults.append(fault) }
}
