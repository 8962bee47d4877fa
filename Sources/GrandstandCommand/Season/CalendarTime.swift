internal import Foundation
internal import JSON

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

    /// The time after this duration: days are counted on the clock, seconds are elapsed time.
    func adding(_ duration: CalendarDuration, in zone: TimeZone) -> Int {
        CalendarTime(clock: clock + duration.days * 86_400, offset: offset).instant(in: zone) + duration.seconds
    }
}

extension CalendarTime {
    /// Reads `2026-11-28 15:30`, `2026-11-28T14:30:00Z`, `20261128T143000Z` or `2026-11-28T15:30+01:00`.
    ///
    /// `nil`: the text is not an ISO 8601 time, or the year is outside `CalendarLimits.years`.
    static func iso(_ text: some StringProtocol) -> CalendarTime? {
        var cursor = TextCursor(text)
        guard let year = cursor.number(4...4) else { return nil }
        let isExtended = cursor.take("-") != nil
        guard let month = cursor.number(2...2), !isExtended || cursor.take("-") != nil, let day = cursor.number(2...2)
        else { return nil }
        if cursor.isAtEnd { return Self.seconds(year, month, day).map { CalendarTime(clock: $0, hasTime: false) } }
        guard cursor.take("Tt ") != nil, let hour = cursor.number((isExtended ? 1 : 2)...2) else { return nil }
        let hasColon = cursor.take(":") != nil
        guard let minute = cursor.number(2...2) else { return nil }
        var second = 0
        if hasColon ? cursor.take(":") != nil : cursor.next.map(Self.isDigit) ?? false {
            guard let number = cursor.number(2...2) else { return nil }
            second = number
            if cursor.take(".,") != nil, cursor.prefix(while: Self.isDigit).isEmpty { return nil }
        }
        guard let seconds = Self.seconds(year, month, day, hour, minute, second) else { return nil }
        if cursor.isAtEnd { return CalendarTime(clock: seconds) }
        if cursor.take("Zz") != nil { return cursor.isAtEnd ? CalendarTime(clock: seconds, offset: 0) : nil }
        guard let sign = cursor.sign(), let hours = cursor.number(2...2), hours < 24 else { return nil }
        _ = cursor.take(":")
        let minutes = cursor.isAtEnd ? 0 : cursor.number(2...2)
        guard let minutes, minutes < 60, cursor.isAtEnd else { return nil }
        return CalendarTime(clock: seconds, offset: sign * (hours * 3_600 + minutes * 60))
    }

    /// Reads `28.11.2026 15:30` or `28/11/26 3:30 PM`.
    ///
    /// `nil`: the text is not such a time, or the year is outside `CalendarLimits.years`.
    static func dayMonthYear(_ text: some StringProtocol) -> CalendarTime? {
        var cursor = TextCursor(text)
        guard let day = cursor.number(1...2), cursor.take("./-") != nil, let month = cursor.number(1...2),
            cursor.take("./-") != nil, var year = cursor.number(1...4)
        else { return nil }
        if year < 100 { year += 2000 }
        _ = cursor.take(",")
        _ = cursor.prefix { $0 == UInt8(ascii: " ") }
        if cursor.isAtEnd { return Self.seconds(year, month, day).map { CalendarTime(clock: $0, hasTime: false) } }
        guard var hour = cursor.number(1...2), cursor.take(":.") != nil, let minute = cursor.number(2...2) else {
            return nil
        }
        var second = 0
        if cursor.take(":.") != nil {
            guard let number = cursor.number(2...2) else { return nil }
            second = number
        }
        _ = cursor.prefix { $0 == UInt8(ascii: " ") }
        if let half = cursor.take("AaPp") {
            guard cursor.take("Mm") != nil, (1...12).contains(hour) else { return nil }
            hour = hour % 12 + (half & 0x5F == UInt8(ascii: "P") ? 12 : 0)
        }
        guard cursor.isAtEnd else { return nil }
        return Self.seconds(year, month, day, hour, minute, second).map { CalendarTime(clock: $0) }
    }

    /// Seconds since 1970 of a time in UTC. A leap second (60) counts as second 59.
    ///
    /// `nil`: there is no such time, or the year is outside `CalendarLimits.years`.
    private static func seconds(
        _ year: Int, _ month: Int, _ day: Int, _ hour: Int = 0, _ minute: Int = 0, _ second: Int = 0
    ) -> Int? {
        // Howard Hinnant's days_from_civil, for years that are not negative.
        let shifted = month <= 2 ? year - 1 : year
        let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        let days = shifted * 365 + shifted / 4 - shifted / 100 + shifted / 400 + dayOfYear - 719_468
        let civil = CivilDay(days)
        guard CalendarLimits.years.contains(year), (civil.year, civil.month, civil.day) == (year, month, day),
            (0...23).contains(hour), (0...59).contains(minute), (0...60).contains(second)
        else { return nil }
        return days * 86_400 + hour * 3_600 + minute * 60 + min(second, 59)
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }
}

/// A duration that is not negative (RFC 5545 3.3.6): `PT1H45M`, `P1D`, `P2W`.
struct CalendarDuration: Hashable {
    var days = 0
    var seconds = 0

    /// `nil`: the text is not a duration, or it is negative.
    init?(_ text: some StringProtocol) {
        var cursor = TextCursor(text)
        guard cursor.sign() != -1, cursor.take("P") != nil, !cursor.isAtEnd else { return nil }
        var isTime = false
        while !cursor.isAtEnd {
            if !isTime, cursor.take("T") != nil {
                isTime = true
                if cursor.isAtEnd { return nil }
            }
            guard let number = cursor.number(1...6) else { return nil }
            if isTime {
                guard let unit = cursor.take("HMS") else { return nil }
                seconds += number * (unit == UInt8(ascii: "H") ? 3_600 : unit == UInt8(ascii: "M") ? 60 : 1)
            } else {
                guard let unit = cursor.take("WD") else { return nil }
                days += number * (unit == UInt8(ascii: "W") ? 7 : 1)
            }
        }
    }
}
