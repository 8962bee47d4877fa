package import FoundationEssentials

/// The schedule of a rehearsed day: the times of all messages, and the conversion between times of the day and times of
/// the rehearsal. Pure.
///
/// A rehearsal begins shortly before the first thing that happens on the day, not at midnight, and ends when the last
/// event ends. Channels that opened earlier are open at once.
package struct RehearsalPlan: Sendable, Hashable {
    /// The messages of an organiser to one event, in order.
    package struct Script: Sendable, Hashable {
        package var event: RehearsalEvent
        /// Whether the event's messages are rehearsed. Otherwise the event only keeps its channels, until its end.
        package var isPlayed: Bool
        package var messages: [Message]
    }

    package struct Message: Sendable, Hashable {
        /// The message's number within its event, from 1.
        package var number: Int
        /// When the message is due, on the clock of the rehearsed day.
        package var at: Date
        package var isEnd: Bool
        package var rings: Bool
    }

    /// When the rehearsal begins, on the clock of the rehearsed day.
    package let begins: Date
    package let ends: Date
    /// Seconds of the day in a second of the rehearsal.
    package let speed: Double
    package let scripts: [Script]

    /// One of this many updates has an alert, because goals are rare.
    private static let alertEvery = 8
    /// The time before the first start: `day` seconds of the day, but at least `real` seconds of the rehearsal, because
    /// channels are made in real time.
    private static let prelude: (day: TimeInterval, real: TimeInterval) = (900, 2)

    /// - Parameters:
    ///   - playing: events whose `startsAt` is on the day; events without `startsAt` are left out.
    ///   - others: events that may hold places at the same time.
    ///   - day: from its first moment to the first moment of the next day.
    ///   - messages: updates of each event, spread over its duration, before its end.
    ///   - feed: the messages' times in seconds after an event's `startsAt`, in place of `messages`; the last time is
    ///     the end.
    /// - Returns: `nil` when nothing is to be played.
    package init?(
        playing: [RehearsalEvent], others: [RehearsalEvent], day: Range<Date>, messages: Int,
        feed: [TimeInterval]? = nil, speed: Double
    ) {
        let spans = playing.compactMap(\.span)
        guard let ends = spans.map(\.upperBound).max() else { return nil }
        let prelude = max(Self.prelude.day, Self.prelude.real * speed)
        let begins = playing.compactMap { event in
            event.span.map { span in
                let early = span.lowerBound.addingTimeInterval(-prelude)
                return event.opensAt.map { $0 >= day.lowerBound ? min($0, early) : early } ?? early
            }
        }.min()
        let from = begins ?? day.lowerBound
        self.begins = from
        self.ends = ends
        self.speed = speed
        let played = playing.compactMap { event in
            event.span.map { span in
                Script(
                    event: event, isPlayed: true,
                    messages: feed.map { Self.messages($0, in: span) } ?? Self.messages(messages, over: span))
            }
        }
        let silent = others.filter { Self.holdsPlaces($0, from: from, until: ends) }.map { event in
            let end = event.span.flatMap { $0.upperBound <= ends ? $0.upperBound : nil }
            let messages = end.map { [Message(number: 1, at: $0, isEnd: true, rings: false)] } ?? []
            return Script(event: event, isPlayed: false, messages: messages)
        }
        scripts = played + silent
    }

    private static func messages(_ count: Int, over span: Range<Date>) -> [Message] {
        let length = span.upperBound.timeIntervalSince(span.lowerBound)
        let updates = (0..<count).map { index in
            Message(
                number: index + 1, at: span.lowerBound.addingTimeInterval(length * Double(index) / Double(count)),
                isEnd: false, rings: (index + 1).isMultiple(of: alertEvery))
        }
        return updates + [Message(number: count + 1, at: span.upperBound, isEnd: true, rings: false)]
    }

    private static func messages(_ feed: [TimeInterval], in span: Range<Date>) -> [Message] {
        feed.enumerated().map { index, time in
            Message(
                number: index + 1, at: min(span.upperBound, span.lowerBound.addingTimeInterval(time)),
                isEnd: index == feed.count - 1, rings: false)
        }
    }

    private static func holdsPlaces(_ event: RehearsalEvent, from: Date, until: Date) -> Bool {
        if let opensAt = event.opensAt, opensAt > until { return false }
        return event.span.map { $0.upperBound > from } ?? true
    }

    /// Seconds that the rehearsal takes.
    package var seconds: TimeInterval { ends.timeIntervalSince(begins) / speed }

    /// The time of the fault, on the clock of the rehearsed day: when half of all messages have been sent, because a
    /// fault does most harm at that time.
    package var faultAt: Date {
        let times = scripts.filter(\.isPlayed).flatMap { $0.messages.map(\.at) }.sorted()
        return times.isEmpty ? begins : times[times.count / 2]
    }

    /// Seconds for which APNs is away: a tenth of the rehearsal, but at least two and at most thirty.
    package var outageSeconds: TimeInterval { min(max(seconds / 10, 2), 30) }

    /// The moment in the rehearsal that stands for a time of the day. The rehearsal began at `base`.
    package func moment(of time: Date, since base: Date) -> Date {
        base.addingTimeInterval(time.timeIntervalSince(begins) / speed)
    }

    /// The time of the day that a moment stands for.
    package func time(at moment: Date, since base: Date) -> Date {
        begins.addingTimeInterval(moment.timeIntervalSince(base) * speed)
    }
}
