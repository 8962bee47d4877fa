package import FoundationEssentials

/// The report of the sampled phones of one audience: the states of an event that they showed, and how soon.
package struct ReceiptReport: Sendable, Hashable {
    package struct Message: Sendable, Hashable {
        /// `aps.timestamp`.
        package var timestamp: Int
        /// When the message's broadcast was accepted, or the broadcast's `sendAt`. `nil`: no known broadcast has this
        /// timestamp, for example because the message is the content of a start.
        package var acceptedAt: Date?
        /// Phones of the sample that showed the message.
        package var shown = 0
        /// Phones among `shown` whose time cannot be used: their clock is off by more than `maximumClockError`, or they
        /// corrected the time themselves and it is later than the arrival of the receipt.
        package var clockUnknown = 0
        /// Phones among `shown` whose receipt says that they showed the message before its broadcast was accepted.
        package var shownEarly = 0
        /// Seconds from acceptance to display, for the phones in neither `clockUnknown` nor `shownEarly`.
        package var seconds: Percentiles?
    }

    /// Phones that were asked for receipts and have reported an activity of the event, or receipts of it.
    package var sample: Int
    /// By time.
    package var messages: [Message]
    /// The newest broadcast that APNs accepted, with the phones of all its messages: to the channel, to the crowd, and
    /// to tokens that joined later. `timestamp` is the highest of the messages that belong to the broadcast.
    package var newest: Message?

    /// Clocks that are off by more seconds than this are not corrected.
    package static let maximumClockError = 300.0

    /// A negative delay of at most this many seconds counts as rounding, because a `Date` header has whole seconds.
    package static let rounding = 1.0

    /// A message that was sent, with its timestamp.
    package struct Sent: Sendable, Hashable {
        package var broadcast: UUID
        package var timestamp: Int
        package var acceptedAt: Date
        package var isAccepted: Bool

        package init(broadcast: UUID, timestamp: Int, acceptedAt: Date, isAccepted: Bool) {
            self.broadcast = broadcast
            self.timestamp = timestamp
            self.acceptedAt = acceptedAt
            self.isAccepted = isAccepted
        }
    }

    /// Equal receipts, counted.
    package struct Tally: Sendable, Hashable {
        package var timestamp: Int
        /// When the phones showed the message, by the server's clock.
        package var shownAt: Date
        package var isClockKnown: Bool
        package var count: Int

        package init(timestamp: Int, shownAt: Date, isClockKnown: Bool, count: Int) {
            self.timestamp = timestamp
            self.shownAt = shownAt
            self.isClockKnown = isClockKnown
            self.count = count
        }
    }

    package init(sample: Int, sent: [Sent], tallies: [Tally]) {
        self.sample = sample
        let byTimestamp = Dictionary(sent.map { ($0.timestamp, $0) }) { first, _ in first }
        let shown = Dictionary(grouping: tallies, by: \.timestamp)
        messages = Set(byTimestamp.keys).union(shown.keys).sorted().map { timestamp in
            Message(timestamp, acceptedAt: byTimestamp[timestamp]?.acceptedAt, shown[timestamp] ?? [])
        }
        newest = Self.newest(sent, shown)
    }

    /// The newest accepted broadcast. Its number of phones includes receipts with a later timestamp that no broadcast
    /// has. Such a timestamp belongs to a start, or to a message to a token that joined late. Those phones show the
    /// newest state, but say nothing about the time that it took.
    private static func newest(_ sent: [Sent], _ shown: [Int: [Tally]]) -> Message? {
        let accepted = sent.filter(\.isAccepted)
        guard let last = accepted.max(by: { ($0.acceptedAt, $0.timestamp) < ($1.acceptedAt, $1.timestamp) }) else {
            return nil
        }
        let own = Set(accepted.filter { $0.broadcast == last.broadcast }.map(\.timestamp))
        let known = Set(sent.map(\.timestamp))
        let first = own.min() ?? last.timestamp
        var message = Message(
            own.max() ?? last.timestamp, acceptedAt: last.acceptedAt, own.flatMap { shown[$0] ?? [] })
        for (timestamp, tallies) in shown where timestamp > first && !known.contains(timestamp) {
            message.shown += tallies.reduce(0) { $0 + $1.count }
        }
        return message
    }
}

extension ReceiptReport.Message {
    fileprivate init(_ timestamp: Int, acceptedAt: Date?, _ tallies: [ReceiptReport.Tally]) {
        self.init(timestamp: timestamp, acceptedAt: acceptedAt)
        var measured: [Double: Int] = [:]
        for tally in tallies {
            shown += tally.count
            guard tally.isClockKnown else {
                clockUnknown += tally.count
                continue
            }
            guard let acceptedAt else { continue }
            let seconds = tally.shownAt.timeIntervalSince(acceptedAt)
            // The time that the request takes on the network only makes receipts look later. So a receipt has a wrong
            // time if it is earlier than the acceptance by more than `rounding`.
            if seconds < -ReceiptReport.rounding {
                shownEarly += tally.count
            } else {
                measured[max(0, seconds), default: 0] += tally.count
            }
        }
        self.seconds = Percentiles(measured)
    }
}
