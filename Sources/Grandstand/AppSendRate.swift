package import FoundationEssentials

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#else
    internal import Darwin
#endif

/// Learns from APNs' 429 answers which limit applies to one app and environment, for broadcasts or for device pushes: a
/// limit of the whole app, or limits of single lanes. A lane has the messages to one channel, or the pushes to one token.
///
/// From the first 429 on, it counts the answers of each lane. Two explanations are compared. Either the app has a
/// limit, and every lane meets it equally often. Or some lanes have their own limits, and the other lanes meet the
/// app's limit, if there is one. The explanation with the higher likelihood is used (a Bayes factor; every share of
/// 429s has the same prior probability). In doubt the app's limit stays as it is.
package struct AppSendRate: Sendable {
    /// A lane's answers.
    private struct Answers: Sendable {
        var accepted = 0
        var refused = 0
        var since: Date
    }

    private enum Explanation {
        case limitOfApp
        /// These lanes have their own limits. `others` is the number of 429s of all other lanes together.
        case limits(of: [Int], others: Int)
        case unknown
    }

    /// The rate of the app.
    package var rate = SendRate(.app)
    /// Answers by lane, for lanes without their own limit. It is empty until APNs answers 429.
    private var answers: [Int: Answers] = [:]
    /// The rates of lanes with their own limit.
    private var rates: [Int: SendRate] = [:]
    private var throttledAt = Date.distantPast
    /// When counting began.
    private var countedSince = Date.distantPast

    /// Seconds without a 429 after which the answers counted so far are dropped.
    private static let patience: TimeInterval = 30
    /// Seconds of answers that are needed before the app's limit may begin. A refused lane asks again at once, so the
    /// first answers contain too many refusals.
    private static let moment: TimeInterval = 2
    private static let mostLanes = 10_000
    /// The natural logarithm of the factor by which one explanation must be likelier than the other: about twenty.
    private static let margin = 3.0
    private static let leastRefused = 3

    package init() {}

    /// APNs accepted a request of this lane.
    package mutating func accepted(lane: Int, sentAt: Date, at now: Date) {
        rate.accepted(sentAt: sentAt, at: now)
        if !rates.isEmpty, rates[lane] != nil {
            rates[lane]?.spend(1, at: now)
            rates[lane]?.accepted(sentAt: sentAt, at: now)
        } else if !answers.isEmpty {
            answers[lane, default: Answers(since: now)].accepted += 1
        }
    }

    /// APNs answered 429 to a request of this lane.
    package mutating func throttled(lane: Int, retryAfter: Int? = nil, sentAt: Date, at now: Date) {
        if now.timeIntervalSince(throttledAt) > Self.patience && !rate.isLimited || answers.count > Self.mostLanes {
            answers = [:]
        }
        throttledAt = now
        rates[lane]?.forget(at: now)
        if rates[lane]?.isLimited ?? false {
            rates[lane]?.throttled(retryAfter: retryAfter, sentAt: sentAt, at: now)
            return
        }
        if answers.isEmpty { countedSince = now }
        answers[lane, default: Answers(since: now)].refused += 1
        switch explanation(at: now, atOnce: retryAfter != nil) {
        case .limits(let lanes, let others):
            if rates.count > Self.mostLanes { rates = [:] }
            for lane in lanes {
                guard let answers = answers.removeValue(forKey: lane) else { continue }
                var rate = SendRate(.lane)
                let seconds = max(SendRate.Settings.lane.window, now.timeIntervalSince(answers.since))
                rate.throttled(
                    retryAfter: retryAfter, accepted: Double(answers.accepted) / seconds, sentAt: sentAt, at: now)
                rates[lane] = rate
            }
            // The lanes' own limits explain what looked like a limit of the app.
            if others == 0, rate.isLimited { rate = SendRate(.app) }
        case .unknown where !rate.isLimited: break
        case .limitOfApp, .unknown:
            if !rate.isLimited { answers = [:] }
            rate.throttled(retryAfter: retryAfter, sentAt: sentAt, at: now)
        }
    }

    /// When the lane may send next because of its own limit; `nil`: the lane has no limit of its own, or may send now.
    package func notBefore(lane: Int, at now: Date) -> Date? {
        guard !rates.isEmpty, var rate = rates[lane] else { return nil }
        rate.forget(at: now)
        guard let next = rate.nextToken(at: now), next > now else { return nil }
        return next
    }

    /// - Parameter atOnce: whether the app's limit may begin before `moment` has passed. It is true if APNs sent
    ///   `Retry-After`. Refused lanes then wait, so the first answers count as much as later answers.
    private func explanation(at now: Date, atOnce: Bool) -> Explanation {
        let accepted = answers.values.reduce(0) { $0 + $1.accepted }
        let refused = answers.values.reduce(0) { $0 + $1.refused }
        let share = Double(refused) / Double(accepted + refused)
        // Lanes that are refused at least as often as the average, and more than once.
        let own = answers.filter { lane in
            lane.value.refused >= 2
                && Double(lane.value.refused) >= share * Double(lane.value.refused + lane.value.accepted)
        }
        let others = refused - own.values.reduce(0) { $0 + $1.refused }
        guard answers.count > 1 else { return own.isEmpty ? .unknown : .limits(of: Array(own.keys), others: 0) }
        let ofApp = Self.likelihood(refused, accepted)
        var ofLanes = Self.likelihood(others, accepted - own.values.reduce(0) { $0 + $1.accepted })
        for lane in own.values { ofLanes += Self.likelihood(lane.refused, lane.accepted) }
        // Every number of limited lanes has the same prior probability. For each number, every choice of lanes has the
        // same prior probability.
        ofLanes -= Self.choices(of: own.count, among: answers.count) + log(Double(answers.count + 1))
        if ofLanes > ofApp + Self.margin { return .limits(of: Array(own.keys), others: others) }
        guard refused >= Self.leastRefused, own.isEmpty || ofApp > ofLanes + Self.margin,
            atOnce || now.timeIntervalSince(countedSince) >= Self.moment
        else { return .unknown }
        // A lane that asked only once may have met its own limit. So its 429 is a sign of a limit of the app only if
        // most requests are refused.
        let again = answers.values.reduce(0) { $0 + ($1.refused + $1.accepted > 1 ? $1.refused : 0) }
        return refused >= accepted || again * 2 >= refused ? .limitOfApp : .unknown
    }

    /// The logarithm of the probability of this sequence of answers.
    private static func likelihood(_ refused: Int, _ accepted: Int) -> Double {
        -choices(of: refused, among: refused + accepted) - log(Double(refused + accepted + 1))
    }

    /// The logarithm of the number of ways to choose `some` of `all`.
    private static func choices(of some: Int, among all: Int) -> Double {
        lgamma(Double(all + 1)) - lgamma(Double(some + 1)) - lgamma(Double(all - some + 1))
    }
}
