#if canImport(FoundationEssentials)
    package import FoundationEssentials
#else
    package import Foundation
#endif

/// Times in the API: RFC 3339, written in UTC with milliseconds, and read with any offset.
package enum RFC3339 {
    private static let withFraction = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
    private static let withoutFraction = Date.ISO8601FormatStyle()

    /// The time with milliseconds. `Date.ISO8601FormatStyle` cuts off smaller units, and a `Date` is a binary fraction:
    /// .520 s may be .51999995. So half a microsecond is added. This does not change the milliseconds of a date with
    /// whole microseconds.
    ///
    /// For the years 1970 to 9999 the text is written here without the style. The style uses a calendar, and would take
    /// nearly half of the time for the response body of a lookup.
    package static func text(_ date: Date) -> String {
        let moment = date.addingTimeInterval(0.000_000_5)
        let seconds = moment.timeIntervalSinceReferenceDate
        let whole = seconds.rounded(.down)
        guard (firstSecond..<endOfSeconds).contains(whole) else { return moment.formatted(withFraction) }
        let (day, second) = (Int(whole) - Int(firstSecond)).quotientAndRemainder(dividingBy: 86_400)
        let date = CivilDay(day)
        return String(unsafeUninitializedCapacity: 24) { text in
            var count = 0
            func write(_ value: Int, digits: Int, then mark: UInt8) {
                var rest = value
                for place in (count..<count + digits).reversed() {
                    text[place] = UInt8(48 + rest % 10)
                    rest /= 10
                }
                text[count + digits] = mark
                count += digits + 1
            }
            write(date.year, digits: 4, then: UInt8(ascii: "-"))
            write(date.month, digits: 2, then: UInt8(ascii: "-"))
            write(date.day, digits: 2, then: UInt8(ascii: "T"))
            write(second / 3_600, digits: 2, then: UInt8(ascii: ":"))
            write(second / 60 % 60, digits: 2, then: UInt8(ascii: ":"))
            write(second % 60, digits: 2, then: UInt8(ascii: "."))
            write(Int((seconds - whole) * 1_000), digits: 3, then: UInt8(ascii: "Z"))
            return count
        }
    }

    /// The first seconds of the years 1970 and 10000, relative to the reference date of `Date`.
    private static let (firstSecond, endOfSeconds) = (-978_307_200.0, 252_423_993_600.0)

    /// `nil`: `text` is not an RFC 3339 date-time with an offset, or it names a day or time that does not exist.
    package static func date(_ text: String) -> Date? {
        guard isPossible(Array(text.utf8)) else { return nil }
        return (try? withoutFraction.parse(text)) ?? (try? withFraction.parse(text))
    }

    /// Whether the numbers of a date-time are in range. The styles accept larger ones: they read 30 February as 2
    /// March, and 24:00 as the next day. A second 60 is refused, too, because no leap seconds are announced.
    private static func isPossible(_ text: [UInt8]) -> Bool {
        func number(_ places: Range<Int>) -> Int? {
            guard places.upperBound <= text.count else { return nil }
            return text[places].reduce(0) { number, byte in
                number.flatMap { (48...57).contains(byte) ? $0 * 10 + Int(byte) - 48 : nil }
            }
        }
        guard let year = number(0..<4), let month = number(5..<7), (1...12).contains(month), let day = number(8..<10),
            (1...days(of: month, in: year)).contains(day), let hour = number(11..<13), hour < 24,
            let minute = number(14..<16), minute < 60, let second = number(17..<19), second < 60
        else { return false }
        guard text.last.map({ $0 | 0x20 }) != UInt8(ascii: "z") else { return true }
        let offset = text.count - 5
        guard let hours = number(offset..<offset + 2), let minutes = number(offset + 3..<offset + 5) else {
            return false
        }
        return hours < 24 && minutes < 60
    }

    private static func days(of month: Int, in year: Int) -> Int {
        switch month {
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }
}
