internal import FoundationEssentials
internal import Grandstand
internal import Synchronization

/// The `Date` header's text (RFC 9110, 5.6.7), written once a second.
final class HTTPDates: Sendable {
    private let last = Mutex((second: 0, text: Array(HTTPDate.text(0).utf8)))

    func text(at moment: Date) -> [UInt8] {
        let second = Int(moment.timeIntervalSince1970.rounded(.down))
        return last.withLock { last in
            if last.second != second { last = (second, Array(HTTPDate.text(second).utf8)) }
            return last.text
        }
    }
}
