package import FoundationEssentials

/// The date of an HTTP answer (RFC 9110 5.6.7), in the one form servers may send today.
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
    /// - Parameter second: since 1970, in years of four digits.
    package static func text(_ second: Int) -> String {
        let day = Int((Double(second) / 86_400).rounded(.down))
        let time = second - day * 86_400
        // Years that begin in March have their leap day last: an era of 400 has 146,097 days, day 0 is 1 March 0000.
        let shifted = day + 719_468
        let era = Int((Double(shifted) / 146_097).rounded(.down))
        let ofEra = shifted - era * 146_097
        let year = (ofEra - ofEra / 1_460 + ofEra / 36_524 - ofEra / 146_096) / 365
        let ofYear = ofEra - (365 * year + year / 4 - year / 100)
        let month = (5 * ofYear + 2) / 153
        let number = month < 10 ? month + 3 : month - 9
        let words = [
            weekdays[((day + 4) % 7 + 7) % 7], ", ", two(ofYear - (153 * month + 2) / 5 + 1), " ", months[number - 1],
            " ", four(year + era * 400 + (number <= 2 ? 1 : 0)), " ", two(time / 3_600), ":", two(time / 60 % 60), ":",
            two(time % 60), " GMT",
        ]
        return words.joined()
    }

    private static let weekdays = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    /// Days since 1970-01-01 in the Gregorian calendar, counting years from March so that a leap day comes last.
    private static func days(_ year: Int, _ month: Int, _ day: Int) -> Int {
        let shifted = month > 2 ? year : year - 1
        let ofYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        return shifted * 365 + shifted / 4 - shifted / 100 + shifted / 400 + ofYear - 719_468
    }

    private static func two(_ value: Int) -> String { value < 10 ? "0\(value)" : "\(value)" }
    private static func four(_ value: Int) -> String { two(value / 100) + two(value % 100) }
}
