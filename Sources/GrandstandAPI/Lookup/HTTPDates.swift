internal import FoundationEssentials
internal import Grandstand
internal import Synchronization

/// The `Date` header's text (RFC 9110, 5.6.7), written once a second. It does not go back: event loops read the clock before
/// they come here, and the clock itself may be corrected a little. Phones correct their clocks by it.
final class HTTPDates: Sendable {
    /// Seconds by which a clock may be corrected; one that was set back farther is followed.
    private static let correction = 5

    private let last = Mutex((second: 0, text: Array(HTTPDate.text(0).utf8)))

    func text(at moment: Date) -> [UInt8] {
        let second = Int(moment.timeIntervalSince1970.rounded(.down))
        return last.withLock { last in
            if second > last.second || second < last.second - Self.correction {
                last = (second, Array(HTTPDate.text(second).utf8))
            }
            return last.text
        }
    }
}
