internal import Foundation

/// iCalendar (RFC 5545): one `VEVENT` for each fixture.
extension CalendarReading {
    func iCalendar(_ bytes: [UInt8]) throws(CalendarFault) -> CalendarFile {
        var file = CalendarFile()
        for calendar in try Component.calendars(bytes) {
            let named = try calendar.property("X-WR-TIMEZONE")?.value.trimmed
            var reader = EventReader(
                reading: self, zones: Zones(reading: self, named: named),
                isWithdrawn: try calendar.property("METHOD")?.value.uppercased() == "CANCEL")
            for event in calendar.components {
                do throws(CalendarFault) {
                    file.add(try reader.entry(event))
                } catch {
                    file.add(error, uid: try? reader.uid(event))
                }
            }
        }
        return file
    }
}

/// Reads the events of one `VCALENDAR`.
private struct EventReader {
    let reading: CalendarReading
    var zones: Zones
    /// Whether the file cancels all its entries.
    let isWithdrawn: Bool

    /// The entry's UID, or what the plan uses in its place.
    func uid(_ event: Component) throws(CalendarFault) -> String? {
        let uid = try event.property("UID")?.text.trimmed
        return reading.columns["uid"] == nil ? uid : Self.value("uid", event, reading)
    }

    mutating func entry(_ event: Component) throws(CalendarFault) -> CalendarEntry {
        let uid = try CalendarReading.checked(try self.uid(event), of: "The VEVENT", line: event.line)
        for property in event.properties where ["RRULE", "RDATE", "RECURRENCE-ID"].contains(property.name) {
            throw CalendarFault(
                line: property.line, "\(property.name) is not supported: write one VEVENT for each fixture.")
        }
        let word = try reading.isLeftOut("status") || isWithdrawn ? nil : event.property("STATUS")
        var status = try reading.status(word?.value, line: word?.line ?? event.line)
        if isWithdrawn { status = .cancelled }
        var times: (startsAt: Int, endsAt: Int?)?
        do throws(CalendarFault) {
            times = try self.times(event)
        } catch {
            if status == .scheduled { throw error }
        }
        if times == nil, status == .scheduled { status = .postponed }
        return CalendarEntry(
            line: event.line, uid: uid, startsAt: times?.startsAt, endsAt: times?.endsAt, status: status,
            sequence: try event.property("SEQUENCE").flatMap { Int($0.value) } ?? 0
        ) { [reading] in Self.value($0, event, reading) }
    }

    private static func value(_ name: String, _ event: Component, _ reading: CalendarReading) -> String? {
        reading.value(name) { property in
            let property = property.uppercased()
            return event.properties.first { $0.name == property }?.text.trimmed
        }
    }

    /// `nil`: the time is unknown, and the plan says that such an entry is postponed.
    private mutating func times(_ event: Component) throws(CalendarFault) -> (startsAt: Int, endsAt: Int?)? {
        guard let begins = try event.property("DTSTART") else {
            throw CalendarFault(line: event.line, "The VEVENT has no DTSTART.")
        }
        let (start, zone) = try time(begins)
        guard try reading.isKnown(start, in: zone, line: begins.line) else { return nil }
        let startsAt = start.instant(in: zone)
        let endsAt = try reading.isLeftOut("endsAt") ? nil : end(event, start, zone)
        try reading.check(endsAt, isAfter: startsAt, line: begins.line)
        return (startsAt, endsAt)
    }

    private mutating func end(
        _ event: Component, _ start: CalendarTime, _ zone: TimeZone
    ) throws(CalendarFault) -> Int? {
        let duration = try event.property("DURATION")
        if let property = try event.property("DTEND") {
            guard duration == nil else {
                throw CalendarFault(line: property.line, "Use either DTEND or DURATION, not both.")
            }
            let (end, zone) = try time(property)
            return end.instant(in: zone)
        }
        if let duration {
            guard let length = CalendarDuration(duration.value) else {
                throw CalendarFault(
                    line: duration.line, "\(duration.value.prefix(100)) is not a duration such as PT2H.")
            }
            return start.adding(length, in: zone)
        }
        return nil
    }

    private mutating func time(_ property: Property) throws(CalendarFault) -> (CalendarTime, TimeZone) {
        guard let time = CalendarTime.iso(property.value.trimmed) else {
            throw CalendarFault(
                line: property.line,
                "\(property.value.prefix(100)) is not a time such as 20261128T143000Z, in the years "
                    + "\(CalendarLimits.years.lowerBound) to \(CalendarLimits.years.upperBound).")
        }
        if time.offset != nil { return (time, .utc) }
        guard let name = property.parameters["TZID"] else { return (time, zones.floating) }
        return (time, try zones.zone(name, line: property.line))
    }
}
