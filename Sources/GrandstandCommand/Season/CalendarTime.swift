internal import Foundation

/// A time in a calendar.
struct CalendarTime: Hashable {
    /// What the clock shows, in seconds since 1970 as if it were in UTC.
    var clock: Int
    /// Seconds by which the clock is ahead of UTC; `nil`: the text does not say.
    var offset: Int?
    /// `false`: the text is a day without a time.
    var hasTime = true

    /// Whether it is 00:00 as written, or in UTC what is 00:00 in the zone of the entries. Many calendars write an unknown
    /// time so.
    func isMidnight(in zone: TimeZone) -> Bool {
        let local = offset == 0 ? clock + zone.secondsFromGMT(for: Date(timeIntervalSince1970: Double(clock))) : clock
        return local % 86_400 == 0
    }

    func instant(in zone: TimeZone) -> Int { offset.map { clock - $0 } ?? zone.instant(local: clock) }

    /// The time after a duration that is not negative (RFC 5545 3.3.6), such as `PT1H45M`, `P1D` or `P2W`: days are
    /// counted on the clock, seconds are elapsed time. `nil`: the text is no such duration.
    func adding(_ duration: String, in zone: TimeZone) -> Int? {
        guard let parts = duration.wholeMatch(of: Self.duration), !duration.hasSuffix("P"), !duration.hasSuffix("T")
        else { return nil }
        func number(_ text: Substring?) -> Int { text.flatMap { Int($0) } ?? 0 }
        let days = number(parts.1) * 7 + number(parts.2)
        return CalendarTime(clock: clock + days * 86_400, offset: offset).instant(in: zone)
            + number(parts.3) * 3_600 + number(parts.4) * 60 + number(parts.5)
    }
}

extension CalendarTime {
    /// Reads `2026-11-28 15:30`, `2026-11-28T14:30:00Z`, `20261128T143000Z` or `2026-11-28T15:30+01:00`.
    ///
    /// `nil`: the text is not an ISO 8601 time, or the year is outside `CalendarLimits.years`.
    static func iso(_ text: String) -> CalendarTime? {
        guard let date = text.prefixMatch(of: isoDay) else { return nil }
        var rest = text[date.range.upperBound...]
        let days = [date.1, date.3, date.4]
        if rest.isEmpty { return CalendarTime(days, hasTime: false) }
        guard let clock = rest.prefixMatch(of: isoTime) else { return nil }
        rest = rest[clock.range.upperBound...]
        guard var read = CalendarTime(days + [clock.1, clock.3, clock.4 ?? "0"]) else { return nil }
        if rest.isEmpty { return read }
        guard let end = rest.wholeMatch(of: isoZone), let hours = Int(end.2 ?? "0"), hours < 24,
            let minutes = Int(end.3 ?? "0"), minutes < 60
        else { return nil }
        read.offset = (end.1 == "-" ? -1 : 1) * (hours * 3_600 + minutes * 60)
        return read
    }

    /// Reads `28.11.2026 15:30` or `28/11/26 3:30 PM`.
    ///
    /// `nil`: the text is not such a time, or the year is outside `CalendarLimits.years`.
    static func dayMonthYear(_ text: String) -> CalendarTime? {
        guard let date = text.prefixMatch(of: dmyDay), let year = Int(date.3) else { return nil }
        let days = ["\(year < 100 ? year + 2000 : year)", date.2, date.1]
        let rest = text[date.range.upperBound...]
        if rest.isEmpty { return CalendarTime(days, hasTime: false) }
        guard let clock = rest.wholeMatch(of: dmyTime), var hour = Int(clock.1) else { return nil }
        if let half = clock.4 {
            guard (1...12).contains(hour) else { return nil }
            hour = hour % 12 + (half.lowercased() == "p" ? 12 : 0)
        }
        return CalendarTime(days + ["\(hour)", clock.2, clock.3 ?? "0"])
    }

    /// - Parameter numbers: year, month and day, and perhaps hour, minute and second, of a time without a zone.
    /// - Returns: `nil`: there is no such time, or the year is outside `CalendarLimits.years`.
    private init?(_ numbers: [Substring], hasTime: Bool = true) {
        let n = numbers.map { Int($0) } + [0, 0, 0]
        let parts = DateComponents(
            calendar: Self.calendar, year: n[0], month: n[1], day: n[2], hour: n[3], minute: n[4], second: n[5])
        guard let year = n[0], CalendarLimits.years.contains(year), parts.isValidDate, let date = parts.date else {
            return nil
        }
        self.init(clock: Int(date.timeIntervalSince1970), hasTime: hasTime)
    }

    // Made once, because an expression takes a hundred times as long to compile as to match. A match does not change it.
    nonisolated(unsafe) private static let duration =
        /[+]?P(?:([0-9]{1,6})W)?(?:([0-9]{1,6})D)?(?:T(?:([0-9]{1,6})H)?(?:([0-9]{1,6})M)?(?:([0-9]{1,6})S)?)?/
    nonisolated(unsafe) private static let isoDay = /([0-9]{4})(-?)([0-9]{2})\2([0-9]{2})/
    nonisolated(unsafe) private static let isoTime =
        /[Tt ]([0-9]{2}|[0-9](?=:))(:?)([0-9]{2})(?:\2([0-9]{2})(?:[.,][0-9]+)?)?/
    nonisolated(unsafe) private static let isoZone = /[Zz]|([+\-])([0-9]{2}):?([0-9]{2})?/
    nonisolated(unsafe) private static let dmyDay = /([0-9]{1,2})[.\/\-]([0-9]{1,2})[.\/\-]([0-9]{1,4}),? */
    nonisolated(unsafe) private static let dmyTime =
        /([0-9]{1,2})[:.]([0-9]{2})(?:[:.]([0-9]{2}))? *(?:([AaPp])[Mm])?/

    private static let calendar: Calendar = {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = .gmt
        return calendar
    }()
}
