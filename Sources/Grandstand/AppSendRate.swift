package import FoundationEssentials

/// Learns from APNs' 429 answers which limit applies to one app and environment, for broadcasts or for device pushes: a
/// limit of the whole app, or limits of single lanes. A lane has the messages to one channel, or the pushes to one token.
///
/// From a 429 on, the answers of each lane are counted for a minute. A lane has its own limit if it was refused four
/// times, and four times as often as the other lanes. It then has a rate of its own, and no other lane is slowed.
/// The app has a limit if after two seconds at least an eighth of the lanes were refused. Then 429s lower the app's rate,
/// except those of lanes with their own limit.
package struct AppSendRate: Sendable {
    /// The rate of the app.
    package var rate = SendRate()
    /// The answers of each lane since `countedSince`, the time of a 429.
    private var answers: [Int: (accepted: Int, refused: Int)] = [:]
    private var countedSince = Date.distantPast
    /// The rates of lanes with their own limit.
    private var rates: [Int: SendRate] = [:]

    /// Seconds for which answers are counted. Less would not find a lane that has few messages.
    private static let period: TimeInterval = 60
    /// Seconds of answers that are needed before the app's limit may begin. A refused lane asks again at once, so the
    /// first answers contain too many refusals.
    private static let moment: TimeInterval = 2
    /// The most lanes whose answers are counted. They are a sample, because each push to a device is a lane of its own.
    private static let mostLanes = 10_000

    package init() {}

    /// APNs accepted a request of this lane.
    package mutating func accepted(lane: Int, sentAt: Date, at now: Date) {
        rate.accepted(sentAt: sentAt, at: now)
        if !rates.isEmpty, rates[lane] != nil {
            rates[lane]?.spend(1, at: now)
            rates[lane]?.accepted(sentAt: sentAt, at: now)
        } else if now.timeIntervalSince(countedSince) <= Self.period, mayCount(lane) {
            answers[lane, default: (0, 0)].accepted += 1
        }
    }

    /// APNs answered 429 to a request of this lane.
    package mutating func throttled(lane: Int, retryAfter: Int? = nil, sentAt: Date, at now: Date) {
        if now.timeIntervalSince(countedSince) > Self.period {
            (answers, countedSince) = ([:], now)
            for lane in rates.keys { rates[lane]?.forget(at: now) }
            rates = rates.filter(\.value.isLimited)
        }
        if rates[lane] == nil {
            if mayCount(lane) { answers[lane, default: (0, 0)].refused += 1 }
            guard hasOwnLimit(lane) else {
                if rate.isLimited || appHasLimit(at: now) {
                    // Only answers at the learned rate show whether a lane is refused more often than others.
                    if !rate.isLimited { answers = [:] }
                    rate.throttled(retryAfter: retryAfter, sentAt: sentAt, at: now)
                }
                return
            }
            answers[lane] = nil
        }
        // At the low rate of a lane, each 429 costs as much as one with `Retry-After`.
        rates[lane, default: SendRate()].throttled(retryAfter: retryAfter ?? 0, sentAt: sentAt, at: now)
    }

    /// When the lane may send next because of its own limit; `nil`: the lane has no limit of its own, or may send now.
    package func notBefore(lane: Int, at now: Date) -> Date? {
        rates[lane]?.nextToken(at: now).flatMap { $0 > now ? $0 : nil }
    }

    private func mayCount(_ lane: Int) -> Bool { answers.count < Self.mostLanes || answers[lane] != nil }

    /// Lanes that are mostly refused are not compared with, because they may have their own limits, too. If they are
    /// the majority, a limit of the app explains more.
    private func hasOwnLimit(_ lane: Int) -> Bool {
        guard let own = answers[lane], own.refused >= 4 else { return false }
        let others = answers.values.filter { $0.refused <= $0.accepted }
        let refused = others.reduce(0) { $0 + $1.refused }
        let share = Double(refused) / Double(max(1, others.reduce(refused) { $0 + $1.accepted }))
        return answers.count <= 1 + 2 * others.count
            && Double(own.refused) >= 4 + 4 * share * Double(own.refused + own.accepted)
    }

    /// Whether 429s show a limit of the app. One or two lanes do not, and neither do a few of many device tokens, each of
    /// which was refused once.
    private func appHasLimit(at now: Date) -> Bool {
        guard now.timeIntervalSince(countedSince) >= Self.moment else { return false }
        let refused = answers.values.count { $0.refused > 0 }
        return refused > 2 && 8 * refused >= answers.count
    }
}
