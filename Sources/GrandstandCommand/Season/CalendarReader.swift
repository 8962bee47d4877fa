internal import Foundation

/// How a calendar's text becomes entries: the organiser's settings and the time zones.
struct CalendarReader: Sendable {
    enum Format: String, Sendable {
        case ics, csv
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
    var commandZone: TimeZone?

    /// The plan's words of `status`, in lower case. They take precedence over `words`.
    var statuses: [String: CalendarEntry.Status] = [:]
    /// Whether an entry without a time of day is postponed, instead of a fault.
    var postponesUntimed = false
    /// Whether a start at 00:00 is a time, not an unknown one.
    var acceptsMidnight = false

    /// The properties of iCalendar for the values that every entry has.
    private static let icsProperties = ["uid": "UID", "startsAt": "DTSTART", "endsAt": "DTEND", "status": "STATUS"]
    /// What the words of a status mean.
    private static let words: [String: CalendarEntry.Status] = [
        "": .scheduled, "scheduled": .scheduled, "confirmed": .scheduled, "live": .scheduled, "finished": .scheduled,
        "postponed": .postponed, "tentative": .postponed, "tba": .postponed, "tbc": .postponed, "tbd": .postponed,
        "cancelled": .cancelled, "canceled": .cancelled,
    ]

    /// Reads a whole file. Single entries that cannot be read become faults.
    ///
    /// - Throws: if the whole file cannot be read, or its end is missing.
    func read(_ bytes: [UInt8]) throws(CalendarFault) -> (entries: [CalendarEntry], faults: [CalendarFault]) {
        let needed = columns.values.filter { !$0.isEmpty && !$0.contains("{") }.sorted()
        let rows = try format == .ics ? CalendarRow.events(bytes) : CalendarRow.records(bytes, columns: needed)
        guard rows.count <= CalendarLimits.entries else {
            throw CalendarFault(
                line: rows[CalendarLimits.entries].line,
                "More than \(CalendarLimits.entries) entries; use several calendars.")
        }
        var (entries, faults, places) = ([CalendarEntry](), [CalendarFault](), [String: Int]())
        for row in rows {
            do throws(CalendarFault) {
                let entry = try entry(row)
                let place = places[entry.uid] ?? entries.count
                places[entry.uid] = place
                if place == entries.count {
                    entries.append(entry)
                } else if entry.sequence > entries[place].sequence {
                    entries[place] = entry
                } else if entry.sequence == entries[place].sequence {
                    let other = entries[place].line
                    throw CalendarFault(
                        line: row.line,
                        "The UID \(entry.uid.prefix(100)) is already used on line \(other). The first entry is used.")
                }
            } catch {
                let uid = value("uid", row) ?? ""
                faults.append(CalendarFault(line: error.line, error.detail, uid: uid.isEmpty ? nil : uid))
            }
        }
        return (entries, faults)
    }

    // MARK: Values

    /// The cell of a column or property.
    private func cell(_ column: String, _ row: CalendarRow) -> CalendarRow.Cell? {
        column.isEmpty ? nil : row.cells[format == .ics ? column.uppercased() : column]
    }

    /// The column or property of a value, or its template.
    private func column(_ name: String) -> String {
        columns[name] ?? (format == .ics ? Self.icsProperties[name] : nil) ?? name
    }

    /// The value of a name; `nil`: there is none.
    private func value(_ name: String, _ row: CalendarRow, depth: Int = 0) -> String? {
        guard depth < 5 else { return nil }
        let column = column(name)
        if column.contains("{") || column.contains("}") {
            return Template(column)?.filled { $0 == name ? cell($0, row)?.text : value($0, row, depth: depth + 1) }
        }
        if columns[name] != nil || cell(column, row) != nil { return cell(column, row)?.text }
        guard name == "home" || name == "away", let summary = value("summary", row, depth: depth + 1) else {
            return nil
        }
        return Self.sides(of: summary).map { name == "home" ? $0.home : $0.away }
    }

    /// Both sides of `A – B`; `nil`: the text does not name two sides.
    private static func sides(of summary: String) -> (home: String, away: String)? {
        for separator in [" – ", " — ", " - ", " vs. ", " vs ", " v. ", " v ", " : "] {
            let parts = summary.split(separator: separator, omittingEmptySubsequences: false).map(\.trimmed)
            if parts.count == 2, parts.allSatisfy({ !$0.isEmpty }) { return (parts[0], parts[1]) }
        }
        return nil
    }

    // MARK: Entries

    private func entry(_ row: CalendarRow) throws(CalendarFault) -> CalendarEntry {
        if let fault = row.fault { throw fault }
        for name in ["RRULE", "RDATE", "RECURRENCE-ID"] where format == .ics {
            guard let line = row.cells[name]?.line else { continue }
            throw CalendarFault(line: line, "\(name) is not supported: write one VEVENT for each fixture.")
        }
        guard let uid = value("uid", row), !uid.isEmpty else {
            throw CalendarFault(
                line: row.line,
                "The \(format == .csv ? "record" : "VEVENT") has no UID. Give every entry one: it identifies the entry in "
                    + "later runs.")
        }
        let word = (value("status", row) ?? "").trimmed
        guard var status = meaning(word) else {
            throw CalendarFault(
                line: cell(column("status"), row)?.line ?? row.line,
                "The status “\(word.prefix(100))” is unknown. Say in statuses of the plan whether it means scheduled, "
                    + "postponed or cancelled. Until then the event stays as it is.")
        }
        // A word may also be in the place of the time, such as `2026-11-28 TBD`.
        if status == .scheduled, let word = value("startsAt", row)?.split(separator: " ").last {
            status = meaning(String(word)) ?? status
        }
        var times: (startsAt: Int, endsAt: Int?)?
        do throws(CalendarFault) {
            times = try self.times(row)
        } catch {
            if status == .scheduled { throw error }
        }
        if times == nil, status == .scheduled { status = .postponed }
        return CalendarEntry(
            line: row.line, uid: uid, startsAt: times?.startsAt, endsAt: times?.endsAt, status: status,
            sequence: format == .ics ? row.cells["SEQUENCE"].flatMap { Int($0.text) } ?? 0 : 0
        ) { value($0, row) }
    }

    /// What a word of `status` means; `nil`: it is unknown.
    private func meaning(_ word: String) -> CalendarEntry.Status? {
        statuses[word.lowercased()] ?? Self.words[word.lowercased()]
    }

    /// `nil`: the time is unknown, and the plan says that such an entry is postponed.
    private func times(_ row: CalendarRow) throws(CalendarFault) -> (startsAt: Int, endsAt: Int?)? {
        guard let begins = try time("startsAt", row) else {
            throw CalendarFault(
                line: row.line,
                format == .ics
                    ? "The VEVENT has no DTSTART."
                    : "The record has no startsAt. Fill its column, or name the right one in columns.startsAt of the plan."
            )
        }
        guard let start = begins.time, start.hasTime, acceptsMidnight || !start.isMidnight(in: begins.zone) else {
            if postponesUntimed { return nil }
            throw CalendarFault(
                line: begins.line,
                begins.time?.hasTime == true
                    ? "The entry starts at 00:00, as calendars write an unknown time. If it is the time, set midnight of the "
                        + "plan to time; otherwise set noTime to postponed."
                    : "The entry has no time. Give it one, or set noTime of the plan to postponed.")
        }
        let startsAt = start.instant(in: begins.zone)
        var endsAt: Int?
        if let ends = try time("endsAt", row) {
            endsAt = ends.time?.instant(in: ends.zone)
        } else if format == .ics, columns["endsAt"] != "", let duration = row.cells["DURATION"] {
            endsAt = start.adding(duration.text, in: begins.zone)
            guard endsAt != nil else {
                throw CalendarFault(line: duration.line, "\(duration.text.prefix(100)) is not a duration such as PT2H.")
            }
        }
        if let endsAt, endsAt <= startsAt {
            throw CalendarFault(
                line: begins.line,
                "The entry ends \(endsAt < startsAt ? "before it begins" : "when it begins"). To use defaultDuration of the "
                    + "plan instead of the calendar's ends, set endsAt in columns to null.")
        }
        return (startsAt, endsAt)
    }

    /// A time, its time zone and its line. An empty text has no time.
    private func time(
        _ name: String, _ row: CalendarRow
    ) throws(CalendarFault) -> (time: CalendarTime?, zone: TimeZone, line: Int)? {
        guard let text = value(name, row)?.trimmed else { return nil }
        let cell = cell(column(name), row)
        let line = cell?.line ?? row.line
        let time = CalendarTime(text, isDayMonthYear: isDayMonthYear)
        guard time != nil || text.isEmpty else {
            let example =
                format == .ics ? "20261128T143000Z" : isDayMonthYear ? "28.11.2026 15:30" : "2026-11-28T15:30"
            throw CalendarFault(
                line: line,
                "\(text.prefix(100)) is not a time such as \(example), in the years "
                    + "\(CalendarLimits.years.lowerBound) to \(CalendarLimits.years.upperBound)."
                    + (format == .ics || isDayMonthYear ? "" : " For dates such as 28.11.2026 set datePattern to dmy."))
        }
        // In iCalendar a time in UTC has no other zone, and 00:00 is that of UTC.
        if format == .ics, time?.offset != nil { return (time, .gmt, line) }
        guard let name = format == .ics ? cell?.zone : value("timeZone", row), !name.isEmpty else {
            // Many files have an invalid name for their own time zone; such a name counts as UTC.
            return (time, commandZone ?? timeZone ?? row.zone.flatMap(TimeZone.named) ?? .gmt, line)
        }
        guard let zone = TimeZone.named(name) ?? commandZone else {
            let advice = "Name one with --time-zone, e.g. Europe/Vienna."
            throw CalendarFault(line: line, "There is no time zone \(name.prefix(100)) on this machine. \(advice)")
        }
        return (time, zone, line)
    }
}

extension StringProtocol {
    /// Without white space at its ends.
    var trimmed: String { trimmingCharacters(in: .whitespaces) }
}
