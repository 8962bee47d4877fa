internal import FoundationEssentials
internal import Grandstand
internal import HTTPTypes
internal import Synchronization

/// The `Date` field (RFC 9110, 5.6.7), formatted once a second. It never goes back by a few seconds, although event
/// loops read the clock before they call this and the clock may be corrected. Phones correct their clocks by it.
final class HTTPDates: Sendable {
    /// The most seconds of a correction that is ignored. A clock that is set back further is followed.
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
