internal import FoundationEssentials
internal import Grandstand
internal import HTTPTypes
internal import Synchronization

/// The `Date` field (RFC 9110, 5.6.7), written once a second. It does not go back: event loops read the clock before
/// they come here, and the clock itself may be corrected a little. Phones correct their clocks by it.
final class HTTPDates: Sendable {
    /// Seconds by which a clock may be corrected; one that was set back farther is followed.
    private static let correction = 5

    private let last = Mutex((second: 0, field: HTTPField(name: .date, value: HTTPDate.text(0))))

    func field(at moment: Date) -> HTTPField {
        let second = Int(moment.timeIntervalSince1970.rounded(.down))
        return last.withLock { last in
            if second > last.second || second < last.second - Self.correction {
                last = (second, HTTPField(name: .date, value: HTTPDate.text(second)))
            }
            return last.field
        }
    }
}
