/// One fixture of a calendar.
struct CalendarEntry: Sendable {
    /// The number of its first line, from 1.
    var line: Int
    var uid: String
    /// Seconds since 1970; `nil`: the time is unknown, and the entry is not `scheduled`.
    var startsAt: Int?
    /// `nil`: the calendar has none.
    var endsAt: Int?
    var status = Status.scheduled
    /// If two entries have the same UID, the one with the higher number is newer.
    var sequence = 0
    /// The value of a name that a template uses; `nil`: there is none.
    var value: @Sendable (String) -> String?

    enum Status: String, CaseIterable, Sendable {
        case scheduled
        /// The fixture has no time yet, whatever its entry says.
        case postponed
        case cancelled
    }
}

/// The content of a calendar: entries with distinct UIDs, and the faults of single entries.
struct CalendarFile: Sendable {
    private(set) var entries: [CalendarEntry] = []
    private(set) var faults: [CalendarFault] = []
    private var places: [String: Int] = [:]

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

    /// - Parameter uid: the UID of the faulty entry, if it can be read.
    mutating func add(_ fault: CalendarFault, uid: String?) {
        var fault = fault
        fault.uid = uid.flatMap { $0.isEmpty || $0.utf8.count > CalendarLimits.uidBytes ? nil : $0 }
        faults.append(fault)
    }
}
