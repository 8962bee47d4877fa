internal import APNsWire
internal import FoundationEssentials

/// A warning for the organiser about a declared day. The server accepts the declarations in spite of the warning. Pure.
package struct RehearsalNotice: Sendable, Hashable {
    package enum Kind: String, Sendable, Hashable, CaseIterable {
        /// The event has no end; two hours are assumed.
        case noEnd = "no-end"
        /// The event lasts longer than iOS keeps an activity.
        case tooLong = "too-long"
        /// The event declares a push that starts its activity, but no topic, so no phone gets this push.
        case noFollowers = "no-followers"
        /// Followers of the topic get several activities at the same time.
        case overlap
        /// Followers of the topic get more starts in an hour than a phone takes.
        case startBudget = "start-budget"
    }

    package var kind: Kind
    /// An event's key, or a topic.
    package var subject: String
    package var detail: String

    /// Starts by push that a phone takes in an hour; developers report about ten (docs/internals/apns.md section 3).
    static let startsAnHour = 10

    /// All warnings about these events.
    package static func all(of events: [RehearsalEvent]) -> [RehearsalNotice] {
        events.flatMap(about) + topics(of: events)
    }

    private static func about(_ event: RehearsalEvent) -> [RehearsalNotice] {
        var notices: [RehearsalNotice] = []
        if event.endsAt == nil {
            notices.append(
                .init(kind: .noEnd, subject: event.key, detail: "has no endsAt: two hours were rehearsed. Declare it."))
        }
        if let span = event.span,
            span.upperBound.timeIntervalSince(span.lowerBound) > TimeInterval(APNsLimits.activityLifetime)
        {
            notices.append(
                .init(
                    kind: .tooLong, subject: event.key,
                    detail: "lasts longer than eight hours, after which iOS ends activities. Split it."))
        }
        if event.hasStart, event.topics.isEmpty {
            notices.append(
                .init(kind: .noFollowers, subject: event.key, detail: "has a start and no topics: no phone gets it."))
        }
        return notices
    }

    private static func topics(of events: [RehearsalEvent]) -> [RehearsalNotice] {
        var spans: [String: [Range<Date>]] = [:]
        for event in events where event.hasStart {
            guard let span = event.span else { continue }
            for topic in event.topics { spans[topic, default: []].append(span) }
        }
        return spans.sorted { $0.key < $1.key }.flatMap { topic, spans in
            var notices: [RehearsalNotice] = []
            let together = spans.map { span in spans.count { $0.contains(span.lowerBound) } }.max() ?? 0
            if together > 1 {
                notices.append(
                    .init(
                        kind: .overlap, subject: topic,
                        detail: "\(together) events at once: its followers get as many activities."))
            }
            let hourly =
                spans.map { span in
                    spans.count { (0..<3_600).contains($0.lowerBound.timeIntervalSince(span.lowerBound)) }
                }.max() ?? 0
            if hourly > startsAnHour {
                notices.append(
                    .init(
                        kind: .startBudget, subject: topic,
                        detail: "\(hourly) starts in an hour: a phone takes about \(startsAnHour) and drops the rest."))
            }
            return notices
        }
    }
}
