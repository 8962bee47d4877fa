internal import APNsWire
package import FoundationEssentials

/// Decides whether a host gets requests. After several failures in a row the circuit opens: only one probe at a time is
/// sent. So an outage causes no storm of retries at the host or in the database. The circuit depends only on outcomes,
/// the time and the jitter.
///
/// While the circuit of APNs is open, newer states replace waiting ones. The first answer closes the circuit, and then
/// the newest states are sent.
package struct Circuit: Sendable, Equatable {
    package enum State: Sendable, Equatable {
        /// All requests are sent. `failures` have followed the last answer; the first of them was at `since`.
        case closed(failures: Int, since: Date?)
        /// No request is sent before `until`.
        case open(until: Date, probes: Int)
        /// One request may be sent as a probe.
        case halfOpen(probes: Int)
    }

    /// What an attempt says about the host.
    package enum Outcome: Sendable, Equatable {
        /// The host answered. A refusal counts, too, because the host works.
        case alive
        /// The host was not reachable, did not answer, or reported an internal problem.
        case failed
        /// The attempt says nothing about the host.
        case inconclusive
    }

    package private(set) var state = State.closed(failures: 0, since: nil)

    /// Failures in a row that open the circuit, if these failures also lasted for `minimumOutage` seconds. If one
    /// connection breaks, a hundred requests may fail at once, and a retry repairs that.
    package static let threshold = 20
    package static let minimumOutage: TimeInterval = 0.5
    /// Seconds until the first probe, and the longest time between two probes. Probes come soon, because updates of a
    /// live match are urgent.
    private static let backoff = RetryPolicy(base: 0.5, ceiling: 5)

    package init() {}

    package var isClosed: Bool { if case .closed = state { true } else { false } }

    /// How many messages may start now: up to `room`, one, or none.
    ///
    /// - Parameter flying: the number of messages in flight.
    package mutating func allowance(_ room: Int, flying: Int, now: Date) -> Int {
        switch state {
        case .closed: return room
        case .open(let until, let probes):
            guard until <= now else { return 0 }
            state = .halfOpen(probes: probes)
            return min(1, room)
        case .halfOpen: return flying == 0 ? min(1, room) : 0
        }
    }

    /// Updates the circuit after an attempt.
    ///
    /// - Parameter jitter: a random number in 0..<1.
    /// - Returns: whether this attempt opened or closed the circuit.
    @discardableResult
    package mutating func record(_ outcome: Outcome, now: Date, jitter: Double) -> Bool {
        switch (outcome, state) {
        case (.inconclusive, _): return false
        case (.alive, _):
            let wasClosed = isClosed
            state = .closed(failures: 0, since: nil)
            return !wasClosed
        case (.failed, .closed(let failures, let since)):
            let first = since ?? now
            guard failures + 1 >= Self.threshold, now.timeIntervalSince(first) >= Self.minimumOutage else {
                state = .closed(failures: failures + 1, since: first)
                return false
            }
            open(probes: 0, now: now, jitter: jitter)
            return true
        case (.failed, .halfOpen(let probes)):
            open(probes: probes + 1, now: now, jitter: jitter)
            return false
        // The attempt began before the circuit opened.
        case (.failed, .open): return false
        }
    }

    /// Seconds until the next probe may be sent; `nil` if the circuit is closed or a probe may be sent now.
    package func retryIn(now: Date) -> TimeInterval? {
        guard case .open(let until, _) = state else { return nil }
        return max(0, until.timeIntervalSince(now))
    }

    private mutating func open(probes: Int, now: Date, jitter: Double) {
        state = .open(
            until: Self.backoff.nextAttempt(after: probes + 1, now: now, jitter: jitter), probes: probes)
    }
}

extension Circuit.Outcome {
    package init<Value>(_ answer: APNsAnswer<Value>) {
        switch answer {
        case .accepted: self = .alive
        case .refused(let refusal) where refusal.isHeldBack: self = .inconclusive
        case .refused(let refusal): self = refusal.meaning == .unavailable ? .failed : .alive
        case .unanswered, .unsent: self = .failed
        case .withheld: self = .inconclusive
        }
    }
}
