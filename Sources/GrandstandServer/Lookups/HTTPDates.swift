internal import FoundationEssentials
internal import Grandstand
internal import HTTPTypes
internal import Synchronization

/// The `Date` field (RFC 9110, 5.6.7), formatted once a second. Phones correct their clocks by this field, so the field
/// does not go back if the clock goes back by only a few seconds. The times passed to `field(at:)` may go back: event
/// loops read the clock before the call, and the clock may be corrected.
final class HTTPDates: Sendable {
    /// If the clock goes back by at most this many seconds, the field does not change. If it goes back further, the
    /// field follows.
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
