internal import Foundation

/// A time in a calendar, in seconds since 1970. A time without an offset is counted as if it were in UTC.
enum CalendarTime: Hashable {
    case instant(Int)
    /// A time on the local clock, without an offset.
    case local(Int)
    /// A day without a time: its beginning on the local clock.
    case day(Int)

    func instant(in zone: TimeZone) -> Int {
        switch self {
        case .instant(let seconds): seconds
        case .local(let seconds), .day(let seconds): zone.instant(local: seconds)
        }
    }

    /// The time after this duration: days are counted on the local clock, seconds are elapsed time.
    func adding(_ duration: CalendarDuration, in zone: TimeZone) -> Int {
        switch self {
        case .instant(let seconds): seconds + duration.days * 86_400 + duration.seconds
        case .local(let seconds), .day(let seconds):
            zone.instant(local: seconds + duration.days * 86_400) + duration.seconds
        }
    }
}

/// The order of day, month and year in a CSV file. ISO 8601 is always accepted.
package enum DatePattern: String, Sendable, Hashable, CaseIterable {
    /// `2026-11-28 15:30`, `2026-11-28T14:30:00Z`, `20261128T143000Z`, `2026-11-28T15:30+01:00`.
    case iso
    /// `28.11.2026 15:30`, `28/11/26 3:30 PM`.
    case dmy
    /// `11/28/2026 15:30`.
    case mdy
    /// `2026/11/28 15:30`, `2026.11.28`.
    case ymd

    /// `nil`: the text is not a time in this order or in ISO 8601, or the year is outside `CalendarLimits.years`.
    func read(_ text: some StringProtocol) -> CalendarTime? {
        if let time = Self.iso(TextCursor(text)) { return time }
        return self == .iso ? nil : numbers(TextCursor(text))
    }

    var example: String {
        switch self {
        case .iso: "2026-11-28T15:30"
        case .dmy: "28.11.2026 15:30"
        case .mdy: "11/28/2026 15:30"
        case .ymd: "2026/11/28 15:30"
        }
    }

    private static func iso(_ cursor: TextCursor) -> CalendarTime? {
        var cursor = cursor
        guard let year = cursor.number(4...4) else { return nil }
        let isExtended = cursor.take("-") != nil
        guard let month = cursor.number(2...2), !isExtended || cursor.take("-") != nil,
            let day = cursor.number(2...2), CalendarLimits.years.contains(year)
        else { return nil }
        if cursor.isAtEnd { return Civil.seconds(year, month, day).map { .day($0) } }
        guard cursor.take("Tt ") != nil, let hour = cursor.number((isExtended ? 1 : 2)...2) else { return nil }
        let hasColon = cursor.take(":") != nil
        guard let minute = cursor.number(2...2) else { return nil }
        var second = 0
        if hasColon ? cursor.take(":") != nil : cursor.next.map(Self.isDigit) ?? false {
            guard let number = cursor.number(2...2) else { return nil }
            second = number
            if cursor.take(".,") != nil, cursor.prefix(while: Self.isDigit).isEmpty { return nil }
        }
        guard let seconds = Civil.seconds(year, month, day, hour, minute, second) else { return nil }
        if cursor.isAtEnd { return .local(seconds) }
        if cursor.take("Zz") != nil { return cursor.isAtEnd ? .instant(seconds) : nil }
        guard let sign = cursor.sign(), let hours = cursor.number(2...2), hours < 24 else { return nil }
        _ = cursor.take(":")
        let minutes = cursor.isAtEnd ? 0 : cursor.number(2...2)
        guard let minutes, minutes < 60, cursor.isAtEnd else { return nil }
        return .instant(seconds - sign * (hours * 3_600 + minutes * 60))
    }

    private func numbers(_ cursor: TextCursor) -> CalendarTime? {
        var cursor = cursor
        guard let first = cursor.number(1...4), cursor.take("./-") != nil, let second = cursor.number(1...2),
            cursor.take("./-") != nil, let third = cursor.number(1...4)
        else { return nil }
        var (year, month, day) =
            switch self {
            case .iso, .ymd: (first, second, third)
            case .dmy: (third, second, first)
            case .mdy: (third, first, second)
            }
        if year < 100 { year += 2000 }
        guard CalendarLimits.years.contains(year) else { return nil }
        _ = cursor.take(",")
        _ = cursor.prefix { $0 == UInt8(ascii: " ") }
        if cursor.isAtEnd { return Civil.seconds(year, month, day).map { .day($0) } }
        guard var hour = cursor.number(1...2), cursor.take(":.") != nil, let minute = cursor.number(2...2) else {
            return nil
        }
        var seconds = 0
        if cursor.take(":.") != nil {
            guard let number = cursor.number(2...2) else { return nil }
            seconds = number
        }
        _ = cursor.prefix { $0 == UInt8(ascii: " ") }
        if let half = cursor.take("AaPp") {
            guard cursor.take("Mm") != nil, (1...12).contains(hour) else { return nil }
            hour = hour % 12 + (half & 0x5F == UInt8(ascii: "P") ? 12 : 0)
        }
        guard cursor.isAtEnd else { return nil }
        return Civil.seconds(year, month, day, hour, minute, seconds).map { .local($0) }
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
