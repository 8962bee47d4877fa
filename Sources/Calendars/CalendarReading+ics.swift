internal import Foundation

/// iCalendar (RFC 5545): one `VEVENT` for each fixture.
extension CalendarReading {
    func iCalendar(_ bytes: [UInt8]) throws(CalendarFault) -> CalendarFile {
        var file = CalendarFile()
        for calendar in try Component.calendars(bytes) {
            let named = try calendar.property("X-WR-TIMEZONE")?.value.trimmed
            var reader = EventReader(reading: self, zones: Zones(reading: self, named: named))
            let isWithdrawn = try calendar.property("METHOD")?.value.uppercased() == "CANCEL"
            for event in calendar.components {
                do throws(CalendarFault) {
                    var entry = try reader.entry(event)
                    entry.isCancelled = entry.isCancelled || isWithdrawn
                    file.add(entry)
                } catch {
                    file.add(error, uid: try? event.property("UID")?.text.trimmed)
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

    mutating func entry(_ event: Component) throws(CalendarFault) -> CalendarEntry {
        let uid = try CalendarReading.checked(
            try event.property("UID")?.text.trimmed, of: "The VEVENT", line: event.line)
        for property in event.properties where ["RRULE", "RDATE", "RECURRENCE-ID"].contains(property.name) {
            throw CalendarFault(
                line: property.line, "\(property.name) is not supported: write one VEVENT for each fixture.")
        }
        guard let begins = try event.property("DTSTART") else {
            throw CalendarFault(line: event.line, "The VEVENT has no DTSTART.")
        }
        let (start, zone) = try time(begins)
        let startsAt = start.instant(in: zone)
        let endsAt = try end(event, start, zone)
        if let endsAt, endsAt < startsAt {
            throw CalendarFault(line: begins.line, "The VEVENT ends before it begins.")
        }
        let status = try event.property("STATUS")?.value.uppercased()
        return CalendarEntry(
            line: event.line, uid: uid, startsAt: startsAt, endsAt: endsAt, isCancelled: status == "CANCELLED",
            sequence: try event.property("SEQUENCE").flatMap { Int($0.value) } ?? 0
        ) { [reading] name in
            reading.value(name) { property in
                let property = property.uppercased()
                return event.properties.first { $0.name == property }?.text.trimmed
            }
        }
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
        guard case .day(let midnight) = start else { return nil }
        return zone.instant(local: midnight + 86_400)
    }

    private mutating func time(_ property: Property) throws(CalendarFault) -> (CalendarTime, TimeZone) {
        guard let time = CalendarTime.iso(property.value.trimmed) else {
            throw CalendarFault(
                line: property.line,
                "\(property.value.prefix(100)) is not a time such as 20261128T143000Z, in the years "
                    + "\(CalendarLimits.years.lowerBound) to \(CalendarLimits.years.upperBound).")
        }
        if case .instant = time { return (time, .utc) }
        guard let name = property.parameters["TZID"] else { return (time, zones.floating) }
        return (time, try zones.zone(name, line: property.line))
    }
}
