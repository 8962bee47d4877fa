internal import APNsWire
package import FoundationEssentials

/// Whether a host is to be sent to: after failures in a row it is left alone but for one probe at a time, so that an
/// outage costs neither the host nor the database a storm of retries. Pure: outcomes, now and jitter decide.
///
/// While APNs' is open, newer states replace those that wait; the first answer closes it, and what is newest then goes.
package struct Circuit: Sendable, Equatable {
    package enum State: Sendable, Equatable {
        /// Everything goes; so many failures since the last answer, the first of them at a time.
        case closed(failures: Int, since: Date?)
        /// Nothing goes before then.
        case open(until: Date, probes: Int)
        /// One message may go, to see.
        case halfOpen(probes: Int)
    }

    /// The sign that an attempt gives of the host.
    package enum Outcome: Sendable, Equatable {
        /// It answered, be it with a refusal: it is there and at work.
        case alive
        /// It could not be reached, did not answer, or said that it is not well.
        case failed
        /// Nothing.
        case silent
    }

    /// What opens a circuit, and when it is probed.
    package struct Rule: Sendable, Equatable {
        /// Failures in a row that open it, if they also lasted for `minimumOutage` seconds.
        let threshold: Int
        let minimumOutage: TimeInterval
        /// Seconds until the first probe, and the most between two.
        let pauses: RetryPolicy

        /// A broken connection with a hundred requests on it is a hiccup that a retry mends. Probes come soon: a match goes
        /// on meanwhile.
        package static let apns = Rule(
            threshold: Circuit.threshold, minimumOutage: Circuit.minimumOutage,
            pauses: RetryPolicy(base: 0.5, ceiling: 5))
        /// A receiver of webhooks that does not answer holds a place for as long as each post may take.
        package static let webhook = Rule(threshold: 5, minimumOutage: 0, pauses: RetryPolicy(base: 1, ceiling: 30))
    }

    package private(set) var state = State.closed(failures: 0, since: nil)
    private let rule: Rule

    /// APNs'.
    package static let threshold = 20
    package static let minimumOutage: TimeInterval = 0.5

    package init(_ rule: Rule = .apns) { self.rule = rule }

    package var isClosed: Bool { if case .closed = state { true } else { false } }

    /// How many messages may start now: any number up to `room`, one, or none.
    ///
    /// - Parameter flying: messages under way.
    package mutating func admits(_ room: Int, flying: Int, now: Date) -> Int {
        switch state {
        case .closed: return room
        case .open(let until, let probes):
            guard until <= now else { return 0 }
            state = .halfOpen(probes: probes)
            return min(1, room)
        case .halfOpen: return flying == 0 ? min(1, room) : 0
        }
    }

    /// Takes account of an attempt.
    ///
    /// - Parameter jitter: a random number in 0..<1.
    /// - Returns: whether the circuit closed or opened by it.
    @discardableResult
    package mutating func record(_ outcome: Outcome, now: Date, jitter: Double) -> Bool {
        switch (outcome, state) {
        case (.silent, _): return false
        case (.alive, _):
            let wasClosed = isClosed
            state = .closed(failures: 0, since: nil)
            return !wasClosed
        case (.failed, .closed(let failures, let since)):
            let first = since ?? now
            guard failures + 1 >= rule.threshold, now.timeIntervalSince(first) >= rule.minimumOutage else {
                state = .closed(failures: failures + 1, since: first)
                return false
            }
            open(probes: 0, now: now, jitter: jitter)
            return true
        case (.failed, .halfOpen(let probes)):
            open(probes: probes + 1, now: now, jitter: jitter)
            return false
        // The attempt was under way when the circuit opened.
        case (.failed, .open): return false
        }
    }

    /// Seconds until the next probe may go; `nil` when closed or one may go already.
    package func pause(now: Date) -> TimeInterval? {
        guard case .open(let until, _) = state else { return nil }
        return max(0, until.timeIntervalSince(now))
    }

    private mutating func open(probes: Int, now: Date, jitter: Double) {
        state = .open(
            until: rule.pauses.nextAttempt(after: probes + 1, now: now, jitter: jitter), probes: probes)
    }
}

extension Circuit.Outcome {
    package init(_ answer: WebhookAnswer) {
        switch answer {
        case .answered(let status, _): self = status >= 500 ? .failed : .alive
        case .unanswered: self = .failed
        case .refused: self = .silent
        }
    }

    package init<Value>(_ answer: APNsAnswer<Value>) {
        switch answer {
        case .accepted: self = .alive
        case .refused(let refusal) where refusal.isHeldBack: self = .silent
        case .refused(let refusal): self = refusal.meaning == .unavailable ? .failed : .alive
        case .unanswered, .unsent: self = .failed
        case .withheld: self = .silent
        }
    }
}
