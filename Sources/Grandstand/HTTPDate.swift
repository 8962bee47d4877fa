package import FoundationEssentials
internal import JSON

/// The date format of HTTP headers (RFC 9110 5.6.7). Only the form that servers must send is supported.
package enum HTTPDate {
    /// `Sun, 06 Nov 1994 08:49:37 GMT`; `nil` for anything else.
    package static func parse(_ text: String) -> Date? {
        let words = text.split(separator: " ")
        guard words.count == 6, words[5] == "GMT", let day = Int(words[1]), let year = Int(words[3]),
            let month = months.firstIndex(of: String(words[2])), (1970...9_999).contains(year), (1...31).contains(day)
        else { return nil }
        let time = words[4].split(separator: ":").compactMap { Int($0) }
        guard time.count == 3, (0...23).contains(time[0]), (0...59).contains(time[1]), (0...60).contains(time[2]) else {
            return nil
        }
        let seconds = days(year, month + 1, day) * 86_400 + time[0] * 3_600 + time[1] * 60 + time[2]
        return Date(timeIntervalSince1970: Double(seconds))
    }

    /// `Sun, 06 Nov 1994 08:49:37 GMT`.
    ///
    /// - Parameter second: seconds since 1970. The year must have four digits.
    package static func text(_ second: Int) -> String {
        let day = Int((Double(second) / 86_400).rounded(.down))
        let time = second - day * 86_400
        let date = CivilDay(day)
        let words = [
            weekdays[((day + 4) % 7 + 7) % 7], ", ", two(date.day), " ", months[date.month - 1],
            " ", four(date.year), " ", two(time / 3_600), ":", two(time / 60 % 60), ":",
            two(time % 60), " GMT",
        ]
        return words.joined()
    }

    private static let weekdays = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    /// Days since 1970-01-01 in the Gregorian calendar. Years are counted from March, so that a leap day is the last
    /// day of its year.
    private static func days(_ year: Int, _ month: Int, _ day: Int) -> Int {
        let shifted = month > 2 ? year : year - 1
        let ofYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        return shifted * 365 + shifted / 4 - shifted / 100 + shifted / 400 + ofYear - 719_468
    }

    private static func two(_ value: Int) -> String { value < 10 ? "0\(value)" : "\(value)" }
    private static func four(_ value: Int) -> String { two(value / 100) + two(value % 100) }
}
