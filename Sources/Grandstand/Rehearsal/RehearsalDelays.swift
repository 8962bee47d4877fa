package import FoundationEssentials

/// How long Apple was without the newest state. Pure.
///
/// A message has reached a channel when Apple accepted this message or a newer message on the channel. A superseded
/// message is not late.
package struct RehearsalDelays: Sendable, Hashable {
    /// The longest wait for the newest state on one channel.
    package struct Gap: Sendable, Hashable {
        package var seconds: TimeInterval
        package var event: Int
        /// When the organiser sent the message that waited.
        package var since: Date
    }

    /// Seconds from the server's acceptance of a message to Apple's acceptance, for each message on each channel of its
    /// event, ascending.
    package private(set) var seconds: [TimeInterval] = []
    /// The longest wait. It counts from the moment the organiser sent the message, so it includes time in which the
    /// server could not accept anything.
    package private(set) var gap: Gap?
    /// The number of channels that never got the newest state, by event.
    package private(set) var behind: [Int: Int] = [:]

    package init(_ record: RehearsalRecord) {
        let arrivals = Dictionary(grouping: record.arrivals) { $0.event }
        for (event, messages) in Dictionary(grouping: record.messages, by: \.event).sorted(by: { $0.key < $1.key }) {
            let seen = Dictionary(grouping: arrivals[event] ?? []) { $0.channelID }
            for channel in (record.channels[event] ?? []).union(seen.keys).sorted() {
                add(messages.sorted { $0.number < $1.number }, Self.newest(seen[channel] ?? []))
            }
        }
        seconds.sort()
    }

    /// The arrivals that brought Apple newer state than it had, in order.
    private static func newest(_ arrivals: [RehearsalRecord.Arrival]) -> [RehearsalRecord.Arrival] {
        arrivals.sorted { $0.at < $1.at }.reduce(into: []) { rising, arrival in
            if arrival.number > rising.last?.number ?? 0 { rising.append(arrival) }
        }
    }

    private mutating func add(_ messages: [RehearsalRecord.Message], _ rising: [RehearsalRecord.Arrival]) {
        var rest = rising[...]
        for message in messages {
            rest = rest.drop { $0.number < message.number }
            guard let arrival = rest.first else {
                behind[message.event, default: 0] += 1
                return
            }
            guard !message.isQuiet else { continue }
            seconds.append(max(0, arrival.at.timeIntervalSince(message.acceptedAt)))
            let wait = max(0, arrival.at.timeIntervalSince(message.sentAt))
            if wait > gap?.seconds ?? -1 { gap = Gap(seconds: wait, event: message.event, since: message.sentAt) }
        }
    }
}

/// How often something happened. Pure.
package enum RehearsalRate {
    /// The highest number of times within any second.
    package static func peak(_ times: [Date]) -> Int {
        let times = times.sorted()
        var first = 0
        var peak = 0
        for (index, time) in times.enumerated() {
            while time.timeIntervalSince(times[first]) >= 1 { first += 1 }
            peak = max(peak, index - first + 1)
        }
        return peak
    }
}
