package import FoundationEssentials

/// Learns from APNs' 429 answers which limit applies to one app and environment, for broadcasts or for device pushes: a
/// limit of the whole app, or limits of single recipients. A recipient is a channel or a device token.
///
/// From a 429 on, the answers of each recipient are counted for a minute. A recipient has its own limit if it was
/// refused four times, and four times as often as the others. It then has a rate of its own, and no other is slowed.
/// The app has a limit if after two seconds at least an eighth of the recipients were refused. Then 429s lower the
/// app's rate, except those of recipients with their own limit.
package struct AppSendRate: Sendable {
    /// The rate of the app.
    package var rate = SendRate()
    /// The answers of each recipient since `countedSince`, the time of a 429.
    private var counts: [Int: (accepted: Int, refused: Int)] = [:]
    private var countedSince = Date.distantPast
    /// The rates of recipients with their own limit.
    private var rates: [Int: SendRate] = [:]

    /// Seconds for which answers are counted. Less would not find a recipient that has few messages.
    private static let period: TimeInterval = 60
    /// Seconds of answers that are needed before the app's limit may begin. Whoever is refused asks again at once, so the
    /// first answers contain too many refusals.
    private static let warmUp: TimeInterval = 2
    /// The most recipients whose answers are counted. They are a sample, because each device token is a recipient.
    private static let mostRecipients = 10_000

    package init() {}

    /// APNs accepted a request of this recipient.
    package mutating func accepted(recipient: Int, at now: Date) {
        rate.accepted(at: now)
        if !rates.isEmpty, rates[recipient] != nil {
            rates[recipient]?.spend(1, at: now)
            rates[recipient]?.accepted(at: now)
        } else if now.timeIntervalSince(countedSince) <= Self.period, hasRoom(recipient) {
            counts[recipient, default: (0, 0)].accepted += 1
        }
    }

    /// APNs answered 429 to a request of this recipient.
    package mutating func throttled(recipient: Int, retryAfter: Int? = nil, sentAt: Date, at now: Date) {
        // A full sample shows nothing of later answers, so it is soon replaced.
        let lifetime = counts.count < Self.mostRecipients ? Self.period : Self.warmUp + 1
        if now.timeIntervalSince(countedSince) > lifetime { (counts, countedSince) = ([:], now) }
        if rates[recipient] == nil {
            if hasRoom(recipient) { counts[recipient, default: (0, 0)].refused += 1 }
            guard hasOwnLimit(recipient) else {
                if rate.isLimited || appHasLimit(at: now) {
                    // Only answers at the learned rate show whether a recipient is refused more often than others.
                    if !rate.isLimited { counts = [:] }
                    rate.throttled(retryAfter: retryAfter, sentAt: sentAt, at: now)
                }
                return
            }
            counts[recipient] = nil
        }
        // At the low rate of a recipient, each 429 costs as much as one with `Retry-After`.
        rates[recipient, default: SendRate()].throttled(retryAfter: retryAfter ?? 0, sentAt: sentAt, at: now)
    }

    /// Forgets limits that caused no 429 for a long time. Call it every few seconds.
    package mutating func forget(at now: Date) {
        rate.expire(at: now)
        for recipient in rates.keys { rates[recipient]?.expire(at: now) }
        rates = rates.filter(\.value.isLimited)
    }

    /// When the recipient may get the next request because of its own limit; `nil`: it has none, or may get one now.
    package func notBefore(recipient: Int, at now: Date) -> Date? {
        rates[recipient]?.nextToken(at: now).flatMap { $0 > now ? $0 : nil }
    }

    private func hasRoom(_ recipient: Int) -> Bool { counts.count < Self.mostRecipients || counts[recipient] != nil }

    /// One or two recipients learn a limit of the app as their own. Those that are mostly refused are not compared with,
    /// because they may have their own limits, too. If they are the majority, a limit of the app explains more.
    private func hasOwnLimit(_ recipient: Int) -> Bool {
        guard let own = counts[recipient], own.refused >= 4 else { return false }
        if counts.count <= 2 { return true }
        let others = counts.values.filter { $0.refused <= $0.accepted }
        let refused = others.reduce(0) { $0 + $1.refused }
        let share = Double(refused) / Double(max(1, others.reduce(refused) { $0 + $1.accepted }))
        return counts.count <= 1 + 2 * others.count
            && Double(own.refused) >= 4 + 4 * share * Double(own.refused + own.accepted)
    }

    /// Whether 429s show a limit of the app. One or two recipients do not, and neither do a few of many device tokens,
    /// each of which was refused once.
    private func appHasLimit(at now: Date) -> Bool {
        guard now.timeIntervalSince(countedSince) >= Self.warmUp else { return false }
        let refused = counts.values.count { $0.refused > 0 }
        return refused > 2 && 8 * refused >= counts.count
    }
}
