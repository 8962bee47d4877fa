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
    /// `nil`: the text is no such time, or the year is outside `CalendarLimits.years`.
    ///
    /// - Parameter isDayMonthYear: whether `28.11.2026 15:30` or `28/11/26` is a time, too.
    init?(_ text: String, isDayMonthYear: Bool) {
        if let iso = text.wholeMatch(of: Self.iso) {
            self.init([iso.1, iso.2, iso.3], iso.4.map { [$0, iso.5 ?? "", iso.6 ?? "0"] }, zone: iso.7)
        } else if isDayMonthYear, let dmy = text.wholeMatch(of: Self.dayMonthYear) {
            let year = dmy.3.count == 2 ? "20" + dmy.3 : dmy.3
            self.init([year, dmy.2, dmy.1], dmy.4.map { [$0, dmy.5 ?? "", dmy.6 ?? "0"] }, zone: nil)
        } else {
            return nil
        }
    }

    /// - Parameters:
    ///   - day: year, month and day.
    ///   - time: hour, minute and second; `nil`: the text has no time.
    ///   - zone: `Z` or an offset; `nil`: the text has none.
    private init?(_ day: [Substring], _ time: [Substring]?, zone: Substring?) {
        let n = (day + (time ?? ["0", "0", "0"])).map { Int($0) }
        let parts = DateComponents(
            calendar: Self.calendar, year: n[0], month: n[1], day: n[2], hour: n[3], minute: n[4], second: n[5])
        guard let year = n[0], CalendarLimits.years.contains(year), parts.isValidDate, let date = parts.date else {
            return nil
        }
        if let zone {
            let digits = zone.filter { $0.isNumber }
            let (hours, minutes) = (Int(digits.prefix(2)) ?? 0, Int(digits.dropFirst(2)) ?? 0)
            guard hours < 24, minutes < 60 else { return nil }
            offset = (zone.hasPrefix("-") ? -1 : 1) * (hours * 3_600 + minutes * 60)
        }
        clock = Int(date.timeIntervalSince1970)
        hasTime = time != nil
    }

    // Made once, because an expression takes a hundred times as long to compile as to match. A match does not change it.
    nonisolated(unsafe) private static let duration =
        /[+]?P(?:([0-9]{1,6})W)?(?:([0-9]{1,6})D)?(?:T(?:([0-9]{1,6})H)?(?:([0-9]{1,6})M)?(?:([0-9]{1,6})S)?)?/
    nonisolated(unsafe) private static let iso =
        #/
        ([0-9]{4})-?([0-9]{2})-?([0-9]{2})
        (?:[Tt\x20]([0-9]{1,2}):?([0-9]{2})(?::?([0-9]{2})(?:[.,][0-9]+)?)?([Zz]|[+\-][0-9]{2}:?(?:[0-9]{2})?)?)?
        /#
    nonisolated(unsafe) private static let dayMonthYear =
        #/
        ([0-9]{1,2})[.\/\-]([0-9]{1,2})[.\/\-]([0-9]{4}|[0-9]{2})
        (?:,?\x20+([0-9]{1,2})[:.]([0-9]{2})(?:[:.]([0-9]{2}))?)?
        /#

    private static let calendar: Calendar = {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = .gmt
        return calendar
    }()
}

/// Local times, in seconds since 1970 as if they were in UTC.
extension TimeZone {
    /// The time zone with this name, such as `Europe/Vienna`; `nil`: this machine does not know it.
    static func named(_ name: String) -> TimeZone? {
        name.wholeMatch(of: form).flatMap { _ in TimeZone(identifier: name) }
    }

    /// The form of a time zone's name. Other texts may be paths, so they are not looked up.
    nonisolated(unsafe) private static let form = /[A-Za-z0-9_+\-]{1,32}(?:\/[A-Za-z0-9_+\-]{1,32}){0,2}/

    /// The instant at which the clock shows `local`. If the clock shows this time twice, the result is the first
    /// instant. If the clock skips this time, the offset before the change is used (RFC 5545 3.3.5).
    func instant(local: Int) -> Int {
        let before = offset(at: local - 86_400)
        if offset(at: local - before) == before { return local - before }
        let after = offset(at: local + 86_400)
        return offset(at: local - after) == after ? local - after : local - before
    }

    private func offset(at time: Int) -> Int { secondsFromGMT(for: Date(timeIntervalSince1970: Double(time))) }
}
