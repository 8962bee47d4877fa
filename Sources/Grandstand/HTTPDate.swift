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
        return RFC3339.date("\(words[3])-\(month < 9 ? "0" : "")\(month + 1)-\(words[1])T\(words[4])Z")
    }

    /// `Sun, 06 Nov 1994 08:49:37 GMT`.
    ///
    /// - Parameter second: seconds since 1970. The year must have four digits.
    package static func text(_ second: Int) -> String {
        let day = Int((Double(second) / 86_400).rounded(.down))
        let parts = RFC3339.text(Date(timeIntervalSince1970: Double(second))).split { "-T.".contains($0) }
        let (weekday, month) = (weekdays[((day + 4) % 7 + 7) % 7], months[CivilDay(day).month - 1])
        return "\(weekday), \(parts[2]) \(month) \(parts[0]) \(parts[3]) GMT"
    }

    private static let weekdays = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]
}
