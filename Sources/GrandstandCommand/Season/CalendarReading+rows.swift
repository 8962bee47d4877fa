internal import Foundation

/// One fixture as its file has it: a record of CSV, or a `VEVENT` of iCalendar.
private struct CalendarRow {
    /// A value with its line and the name of its time zone.
    struct Cell {
        let text: String
        let line: Int
        var zone: String?
    }

    let line: Int
    let uid: String?
    let startsAt, endsAt, status: Cell?
    /// A length in place of `endsAt`.
    var duration: Cell?
    var sequence = 0
    /// The value of a name that a template uses; `nil`: there is none.
    let value: @Sendable (String) -> String?
}

extension CalendarReading {
    /// Reads a whole file. Single entries that cannot be read become faults.
    ///
    /// - Throws: if the whole file cannot be read, or its end is missing.
    func read(_ bytes: [UInt8]) throws(CalendarFault) -> CalendarFile {
        var file = CalendarFile()
        func add(
            _ zones: inout Zones, uid: String?, _ row: () throws(CalendarFault) -> CalendarRow
        ) {
            do throws(CalendarFault) {
                file.add(try entry(try row(), &zones))
            } catch {
                file.add(error, uid: uid)
            }
        }
        switch format {
        case .csv:
            var records = try CSVRecords(bytes)
            guard let head = try records.next() else { throw CalendarFault(line: 1, "The file is empty.") }
            let header = try Header(head, columns: columns)
            var zones = Zones(reading: self, named: nil)
            var count = 0
            while let record = try records.next() {
                count += 1
                guard count <= CalendarLimits.entries else {
                    throw CalendarFault(
                        line: record.line, "More than \(CalendarLimits.entries) records; use several calendars.")
                }
                let value: @Sendable (String) -> String? = { name in self.value(name) { header.value($0, record) } }
                add(&zones, uid: value("uid")) { () throws(CalendarFault) in try row(record, header.count, value) }
            }
        case .ics:
            for calendar in try Component.calendars(bytes) {
                var zones = Zones(reading: self, named: try calendar.property("X-WR-TIMEZONE")?.value.trimmed)
                let isWithdrawn = try calendar.property("METHOD")?.value.uppercased() == "CANCEL"
                for event in calendar.components {
                    add(&zones, uid: try? uid(event)) { () throws(CalendarFault) in try row(event, isWithdrawn) }
                }
            }
        }
        return file
    }

    // MARK: Rows

    /// - Parameter width: the number of columns.
    private func row(
        _ record: CSVRecords.Record, _ width: Int, _ value: @escaping @Sendable (String) -> String?
    ) throws(CalendarFault) -> CalendarRow {
        guard record.fields.dropFirst(width).allSatisfy(\.isEmpty) else {
            throw CalendarFault(
                line: record.line, "The record has \(record.fields.count) fields, the header \(width).")
        }
        let zone = value("timeZone").flatMap { $0.isEmpty ? nil : $0 }
        func cell(_ name: String) -> CalendarRow.Cell? {
            value(name).map { .init(text: $0.trimmed, line: record.line, zone: zone) }
        }
        return CalendarRow(
            line: record.line, uid: value("uid"), startsAt: cell("startsAt"), endsAt: cell("endsAt"),
            status: cell("status"), value: value)
    }

    /// - Parameter isWithdrawn: whether the file cancels all its entries.
    private func row(_ event: Component, _ isWithdrawn: Bool) throws(CalendarFault) -> CalendarRow {
        for property in event.properties where ["RRULE", "RDATE", "RECURRENCE-ID"].contains(property.name) {
            throw CalendarFault(
                line: property.line, "\(property.name) is not supported: write one VEVENT for each fixture.")
        }
        // An empty column: the plan says that the file has no such value.
        func cell(_ name: String, _ column: String) throws(CalendarFault) -> CalendarRow.Cell? {
            guard columns[column] != "", let property = try event.property(name) else { return nil }
            return .init(text: property.value.trimmed, line: property.line, zone: property.parameters["TZID"])
        }
        return CalendarRow(
            line: event.line, uid: try uid(event), startsAt: try cell("DTSTART", ""),
            endsAt: try cell("DTEND", "endsAt"),
            status: isWithdrawn ? .init(text: "CANCELLED", line: event.line) : try cell("STATUS", "status"),
            duration: try cell("DURATION", "endsAt"),
            sequence: try event.property("SEQUENCE").flatMap { Int($0.value) } ?? 0
        ) { self.value($0, of: event) }
    }

    /// The UID of a `VEVENT`, or what the plan uses in its place.
    private func uid(_ event: Component) throws(CalendarFault) -> String? {
        columns["uid"] == nil ? try event.property("UID")?.text : value("uid", of: event)
    }

    private func value(_ name: String, of event: Component) -> String? {
        value(name) { property in
            let property = property.uppercased()
            return event.properties.first { $0.name == property }?.text
        }
    }

    // MARK: Entries

    private func entry(_ row: CalendarRow, _ zones: inout Zones) throws(CalendarFault) -> CalendarEntry {
        guard let uid = row.uid, !uid.isEmpty else {
            throw CalendarFault(
                line: row.line,
                "The \(format == .csv ? "record" : "VEVENT") has no UID. Give every entry one: it identifies the entry in "
                    + "later runs.")
        }
        guard uid.utf8.count <= CalendarLimits.uidBytes, !uid.unicodeScalars.contains("\0") else {
            throw CalendarFault(line: row.line, "A UID has at most \(CalendarLimits.uidBytes) bytes and no NUL.")
        }
        let word = row.status?.text ?? ""
        guard var status = meaning(word) else {
            throw CalendarFault(
                line: row.status?.line,
                "The status “\(word.prefix(100))” is unknown. Say in statuses of the plan whether it means scheduled, "
                    + "postponed or cancelled. Until then the event stays as it is.")
        }
        // A word may also be in the place of the time, such as `2026-11-28 TBD`.
        if status == .scheduled, let word = row.startsAt?.text.split(separator: " ").last {
            status = meaning(String(word)) ?? status
        }
        var times: (startsAt: Int, endsAt: Int?)?
        do throws(CalendarFault) {
            times = try self.times(row, &zones)
        } catch {
            if status == .scheduled { throw error }
        }
        if times == nil, status == .scheduled { status = .postponed }
        return CalendarEntry(
            line: row.line, uid: uid, startsAt: times?.startsAt, endsAt: times?.endsAt, status: status,
            sequence: row.sequence, value: row.value)
    }

    /// What a word of `status` means; `nil`: it is unknown.
    private func meaning(_ word: String) -> CalendarEntry.Status? {
        let word = word.lowercased()
        if let status = statuses[word] { return status }
        return switch word {
        case "", "scheduled", "confirmed", "live", "finished": .scheduled
        case "postponed", "tentative", "tba", "tbc", "tbd": .postponed
        case "cancelled", "canceled": .cancelled
        default: nil
        }
    }

    /// `nil`: the time is unknown, and the plan says that such an entry is postponed.
    private func times(
        _ row: CalendarRow, _ zones: inout Zones
    ) throws(CalendarFault) -> (startsAt: Int, endsAt: Int?)? {
        guard let begins = row.startsAt else {
            throw CalendarFault(
                line: row.line,
                format == .ics
                    ? "The VEVENT has no DTSTART."
                    : "The record has no startsAt. Fill its column, or name the right one in columns.startsAt of the plan."
            )
        }
        let (start, zone) = try time(begins, &zones)
        guard let start, start.hasTime, acceptsMidnight || !start.isMidnight(in: zone) else {
            if postponesWithoutTime { return nil }
            throw CalendarFault(
                line: begins.line,
                start?.hasTime == true
                    ? "The entry starts at 00:00, as calendars write an unknown time. If it is the time, set midnight of the "
                        + "plan to time; otherwise set noTime to postponed."
                    : "The entry has no time. Give it one, or set noTime of the plan to postponed.")
        }
        let startsAt = start.instant(in: zone)
        var endsAt: Int?
        if let ends = row.endsAt {
            guard row.duration == nil else {
                throw CalendarFault(line: ends.line, "Use either DTEND or DURATION, not both.")
            }
            let (end, zone) = try time(ends, &zones)
            endsAt = end?.instant(in: zone)
        } else if let duration = row.duration {
            endsAt = start.adding(duration.text, in: zone)
            guard endsAt != nil else {
                throw CalendarFault(
                    line: duration.line, "\(duration.text.prefix(100)) is not a duration such as PT2H.")
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

    /// The time in a cell, and its time zone. An empty cell has no time.
    private func time(
        _ cell: CalendarRow.Cell, _ zones: inout Zones
    ) throws(CalendarFault) -> (CalendarTime?, TimeZone) {
        let time = CalendarTime.iso(cell.text) ?? (isDayMonthYear ? .dayMonthYear(cell.text) : nil)
        guard time != nil || cell.text.isEmpty else {
            let example =
                format == .ics ? "20261128T143000Z" : isDayMonthYear ? "28.11.2026 15:30" : "2026-11-28T15:30"
            throw CalendarFault(
                line: cell.line,
                "\(cell.text.prefix(100)) is not a time such as \(example), in the years "
                    + "\(CalendarLimits.years.lowerBound) to \(CalendarLimits.years.upperBound)."
                    + (format == .ics || isDayMonthYear ? "" : " For dates such as 28.11.2026 set datePattern to dmy."))
        }
        // In iCalendar a time in UTC has no other zone, and 00:00 is that of UTC.
        if format == .ics, time?.offset != nil { return (time, .gmt) }
        return (
            time,
            try cell.zone.map { name throws(CalendarFault) in try zones.zone(name, line: cell.line) } ?? zones.floating
        )
    }
}

/// Finds a value's column by its name.
private struct Header {
    /// The number of columns.
    let count: Int
    private var places: [String: Int] = [:]

    /// - Throws: if a declared column does not exist.
    init(_ record: CSVRecords.Record, columns: [String: String]) throws(CalendarFault) {
        count = record.fields.count
        for (place, name) in record.fields.enumerated() where places[name] == nil { places[name] = place }
        for column in columns.values.sorted() where !column.isEmpty && !column.contains("{") && places[column] == nil {
            let names = record.fields.map { "“\($0.prefix(40))”" }.prefix(30).joined(separator: ", ")
            throw CalendarFault(
                line: record.line, "There is no column “\(column.prefix(100))”. The columns are \(names).")
        }
    }

    /// The field of a column; `nil`: the column does not exist.
    func value(_ column: String, _ record: CSVRecords.Record) -> String? {
        places[column].map { $0 < record.fields.count ? record.fields[$0] : "" }
    }
}
