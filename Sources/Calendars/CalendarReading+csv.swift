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
            var uid: String?
            do throws(CalendarFault) {
                let raw = { header.value($0, record) }
                let fields = values(Self.own, raw)
                uid = fields["uid"].flatMap { $0.isEmpty || $0.utf8.count > CalendarLimits.uidBytes ? nil : $0 }
                guard record.fields.dropFirst(header.count).allSatisfy(\.isEmpty) else {
                    throw CalendarFault(
                        line: record.line, "The record has \(record.fields.count) fields, the header \(header.count).")
                }
                file.add(try entry(record, fields, values(names, raw), &zones))
            } catch {
                var fault = error
                fault.uid = uid
                file.add(fault)
            }
        }
        return file
    }

    /// The names with a meaning of their own. All others are only values for templates.
    private static let own: Set = ["uid", "startsAt", "endsAt", "timeZone", "status"]

    private func entry(
        _ record: CSVRecords.Record, _ fields: [String: String], _ values: [String: String], _ zones: inout Zones
    ) throws(CalendarFault) -> CalendarEntry {
        let uid = try Self.checked(fields["uid"], of: "The record", line: record.line)
        let named = fields["timeZone"].flatMap { $0.isEmpty ? nil : $0 }
        let zone =
            try named.map { name throws(CalendarFault) in try zones.zone(name, line: record.line) } ?? zones.floating
        guard let text = fields["startsAt"]?.trimmed, !text.isEmpty else {
            throw CalendarFault(
                line: record.line,
                "The record has no startsAt. Fill its column, or name the right one in columns.startsAt of the plan.")
        }
        let start = try time(text, record)
        let startsAt = start.instant(in: zone)
        var endsAt: Int?
        if let text = fields["endsAt"]?.trimmed, !text.isEmpty {
            endsAt = try time(text, record).instant(in: zone)
        } else if case .day(let midnight) = start {
            endsAt = zone.instant(local: midnight + 86_400)
        }
        if let endsAt, endsAt < startsAt {
            throw CalendarFault(line: record.line, "The fixture ends before it begins.")
        }
        let status = fields["status"]?.lowercased()
        return CalendarEntry(
            line: record.line, uid: uid, startsAt: startsAt, endsAt: endsAt,
            isCancelled: status == "cancelled" || status == "canceled", values: values)
    }

    private func time(_ text: String, _ record: CSVRecords.Record) throws(CalendarFault) -> CalendarTime {
        if let time = datePattern.read(text) { return time }
        let others = datePattern == .iso ? " For dates in another format set datePattern to dmy, mdy or ymd." : ""
        throw CalendarFault(
            line: record.line,
            "\(text.prefix(100)) is not a time such as \(datePattern.example), in the years "
                + "\(CalendarLimits.years.lowerBound) to \(CalendarLimits.years.upperBound).\(others)")
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
