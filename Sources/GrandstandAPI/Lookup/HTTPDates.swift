internal import FoundationEssentials
internal import Synchronization

/// The `Date` header's text (RFC 9110, 5.6.7), written once a second.
final class HTTPDates: Sendable {
    private let last = Mutex((second: 0, text: HTTPDates.text(0)))

    func text(at moment: Date) -> [UInt8] {
        let second = Int(moment.timeIntervalSince1970.rounded(.down))
        return last.withLock { last in
            if last.second != second { last = (second, Self.text(second)) }
            return last.text
        }
    }

    /// `Sun, 06 Nov 1994 08:49:37 GMT`.
    ///
    /// - Parameter second: since 1970, in years of four digits.
    static func text(_ second: Int) -> [UInt8] {
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
        return Array(words.joined().utf8)
    }

    private static let weekdays = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
    private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

    private static func two(_ value: Int) -> String { value < 10 ? "0\(value)" : "\(value)" }
    private static func four(_ value: Int) -> String { two(value / 100) + two(value % 100) }
}
