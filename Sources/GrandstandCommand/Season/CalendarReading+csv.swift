internal import Foundation

/// CSV: a header, then one record for each fixture.
extension CalendarReading {
    func csv(_ bytes: [UInt8]) throws(CalendarFault) -> CalendarFile {
        var file = CalendarFile()
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
            do throws(CalendarFault) {
                guard record.fields.dropFirst(header.count).allSatisfy(\.isEmpty) else {
                    throw CalendarFault(
                        line: record.line, "The record has \(record.fields.count) fields, the header \(header.count).")
                }
                file.add(try entry(record, value, &zones))
            } catch {
                file.add(error, uid: value("uid"))
            }
        }
        return file
    }

    private func entry(
        _ record: CSVRecords.Record, _ value: @escaping @Sendable (String) -> String?, _ zones: inout Zones
    ) throws(CalendarFault) -> CalendarEntry {
        let uid = try Self.checked(value("uid"), of: "The record", line: record.line)
        var status = try self.status(value("status"), line: record.line)
        // A word may also be in the place of the time, such as `2026-11-28 TBD`.
        if status == .scheduled, let word = value("startsAt")?.trimmed.split(separator: " ").last {
            status = meaning(String(word)) ?? status
        }
        var times: (startsAt: Int, endsAt: Int?)?
        do throws(CalendarFault) {
            times = try self.times(record, value, &zones)
        } catch {
            if status == .scheduled { throw error }
        }
        if times == nil, status == .scheduled { status = .postponed }
        return CalendarEntry(
            line: record.line, uid: uid, startsAt: times?.startsAt, endsAt: times?.endsAt, status: status, value: value)
    }

    /// `nil`: the time is unknown, and the plan says that such an entry is postponed.
    private func times(
        _ record: CSVRecords.Record, _ value: (String) -> String?, _ zones: inout Zones
    ) throws(CalendarFault) -> (startsAt: Int, endsAt: Int?)? {
        var zone = zones.floating
        if let name = value("timeZone"), !name.isEmpty { zone = try zones.zone(name, line: record.line) }
        guard let text = value("startsAt")?.trimmed else {
            throw CalendarFault(
                line: record.line,
                "The record has no startsAt. Fill its column, or name the right one in columns.startsAt of the plan.")
        }
        let start = try text.isEmpty ? nil : time(text, record)
        guard try isKnown(start, in: zone, line: record.line), let startsAt = start?.instant(in: zone) else {
            return nil
        }
        var endsAt: Int?
        if let text = value("endsAt")?.trimmed, !text.isEmpty { endsAt = try time(text, record).instant(in: zone) }
        try check(endsAt, isAfter: startsAt, line: record.line)
        return (startsAt, endsAt)
    }

    private func time(_ text: String, _ record: CSVRecords.Record) throws(CalendarFault) -> CalendarTime {
        if let time = CalendarTime.iso(text) { return time }
        if isDayMonthYear, let time = CalendarTime.dayMonthYear(text) { return time }
        throw CalendarFault(
            line: record.line,
            "\(text.prefix(100)) is not a time such as \(isDayMonthYear ? "28.11.2026 15:30" : "2026-11-28T15:30"), in the "
                + "years \(CalendarLimits.years.lowerBound) to \(CalendarLimits.years.upperBound)."
                + (isDayMonthYear ? "" : " For dates such as 28.11.2026 set datePattern to dmy."))
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
