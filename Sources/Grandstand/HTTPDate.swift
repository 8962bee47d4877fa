package import FoundationEssentials
internal import JSON

/// The date format of HTTP headers (RFC 9110 5.6.7). Only the form that servers must send is supported.
package enum HTTPDate {
    /// `Sun, 06 Nov 1994 08:49:37 GMT`; `nil` for anything else.
    package static func parse(_ text: String) -> Date? {
        let words = text.split(separator: " ")
        guard words.count == 6, words[5] == "GMT", let month = months.firstIndex(of: String(words[2])) else {
            return nil
        }
        return RFC3339.date("\(words[3])-\(two(month + 1))-\(words[1])T\(words[4])Z")
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

    private static func two(_ value: Int) -> String { value < 10 ? "0\(value)" : "\(value)" }
    private static func four(_ value: Int) -> String { two(value / 100) + two(value % 100) }
}
