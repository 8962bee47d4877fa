internal import Foundation

/// How a calendar's text becomes entries: the organiser's settings and the time zones.
struct CalendarReading: Sendable {
    enum Format: String, Sendable {
        case ics
        case csv
    }

    var format: Format
    /// Where each value comes from, by the value's name: a CSV column, an iCalendar property or a template. An empty
    /// text: the name has no value.
    var columns: [String: String] = [:]
    /// Whether dates in a CSV file may also be written like `28.11.2026`. ISO 8601 is always accepted.
    var isDayMonthYear = false
    /// The time zone for times that have none; `nil`: the file's time zone, or else UTC.
    var timeZone: TimeZone?
    /// The time zone for times whose zone is missing or unknown on this machine. It takes precedence over `timeZone`.
    /// `nil`: an unknown zone is a fault.
    var fallback: TimeZone?

    /// The plan's words of `status`, in lower case. They take precedence over `words`.
    var statuses: [String: CalendarEntry.Status] = [:]
    /// Whether an entry without a time of day is postponed, instead of a fault.
    var postponesWithoutTime = false
    /// Whether a start at 00:00 is a time, not an unknown one.
    var acceptsMidnight = false

    private static let words: [String: CalendarEntry.Status] = [
        "": .scheduled, "scheduled": .scheduled, "confirmed": .scheduled, "live": .scheduled, "finished": .scheduled,
        "postponed": .postponed, "tentative": .postponed, "tba": .postponed, "tbc": .postponed, "tbd": .postponed,
        "cancelled": .cancelled, "canceled": .cancelled,
    ]

    /// What a word of `status` means; `nil`: it is unknown.
    func meaning(_ word: String) -> CalendarEntry.Status? {
        let word = word.lowercased()
        return statuses[word] ?? Self.words[word]
    }

    func status(_ word: String?, line: Int) throws(CalendarFault) -> CalendarEntry.Status {
        let word = word?.trimmed ?? ""
        if let status = meaning(word) { return status }
        throw CalendarFault(
            line: line,
            "The status “\(word.prefix(100))” is unknown. Say in statuses of the plan whether it means scheduled, postponed or "
                + "cancelled. Until then the event stays as it is.")
    }

    /// Checks the time at which an entry begins.
    ///
    /// - Returns: `false`: the time is unknown, and the plan says that such an entry is postponed.
    func isKnown(_ start: CalendarTime?, in zone: TimeZone, line: Int) throws(CalendarFault) -> Bool {
        if let start, start.hasTime, acceptsMidnight || !start.isMidnight(in: zone) { return true }
        if postponesWithoutTime { return false }
        throw CalendarFault(
            line: line,
            start?.hasTime == true
                ? "The entry starts at 00:00, as calendars write an unknown time. If it is the time, set midnight of the plan "
                    + "to time; otherwise set noTime to postponed."
                : "The entry has no time. Give it one, or set noTime of the plan to postponed.")
    }

    func check(_ endsAt: Int?, isAfter startsAt: Int, line: Int) throws(CalendarFault) {
        guard let endsAt, endsAt <= startsAt else { return }
        throw CalendarFault(
            line: line,
            "The entry ends \(endsAt < startsAt ? "before it begins" : "when it begins"). To use defaultDuration of the plan "
                + "instead of the calendar's ends, set endsAt in columns to null.")
    }

    /// Reads a whole file. Single entries that cannot be read become faults.
    ///
    /// - Throws: if the whole file cannot be read, or its end is missing.
    func read(_ bytes: [UInt8]) throws(CalendarFault) -> CalendarFile {
        switch format {
        case .ics: try iCalendar(bytes)
        case .csv: try csv(bytes)
        }
    }

    /// - Parameter what: the part of the file that has the UID, for the error.
    static func checked(_ uid: String?, of what: String, line: Int) throws(CalendarFault) -> String {
        guard let uid, !uid.isEmpty else {
            throw CalendarFault(
                line: line, "\(what) has no UID. Give every entry one: it identifies the entry in later runs.")
        }
        guard uid.utf8.count <= CalendarLimits.uidBytes, !uid.unicodeScalars.contains("\0") else {
            throw CalendarFault(line: line, "A UID has at most \(CalendarLimits.uidBytes) bytes and no NUL.")
        }
        return uid
    }

    /// Whether the plan says that the file has no such value.
    func isLeftOut(_ name: String) -> Bool { columns[name] == "" }

    /// The value of a name; `nil`: there is none.
    ///
    /// - Parameter raw: the value of a column or property; `nil`: it does not exist.
    func value(_ name: String, depth: Int = 0, _ raw: (String) -> String?) -> String? {
        guard depth < 5 else { return nil }
        if let column = columns[name] {
            guard column.contains("{") || column.contains("}") else { return column.isEmpty ? nil : raw(column) }
            return Template(column)?.filled { $0 == name ? raw($0) : value($0, depth: depth + 1, raw) }
        }
        if let value = raw(name) { return value }
        guard name == "home" || name == "away", let summary = value("summary", depth: depth + 1, raw) else {
            return nil
        }
        return Self.sides(of: summary).map { name == "home" ? $0.home : $0.away }
    }

    /// Both sides of `A – B`; `nil`: the text does not name two sides.
    static func sides(of summary: String) -> (home: String, away: String)? {
        for separator in [" – ", " — ", " - ", " vs. ", " vs ", " v. ", " v ", " : "] {
            let parts = summary.split(separator: separator, omittingEmptySubsequences: false).map(\.trimmed)
            if parts.count == 2, parts.allSatisfy({ !$0.isEmpty }) { return (parts[0], parts[1]) }
        }
        return nil
    }
}

extension StringProtocol {
    /// Without white space at its ends.
    var trimmed: String {
        let isSpace: (Character) -> Bool = { $0 == " " || $0 == "\t" || $0 == "\u{A0}" }
        guard let first = firstIndex(where: { !isSpace($0) }), let last = lastIndex(where: { !isSpace($0) }) else {
            return ""
        }
        return String(self[first...last])
    }
}
