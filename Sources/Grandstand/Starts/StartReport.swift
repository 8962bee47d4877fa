package import FoundationEssentials

/// Why a start whose time has come cannot be sent yet.
package enum StartWait: String, Sendable, Hashable, CaseIterable {
    /// The audience has no channel yet.
    case channel
    /// The audience's channel cannot be created, because the app has as many channels as it may.
    case room
    /// There is no content yet.
    case content
    /// The push with the newest content is too large for APNs, so a shorter content must come first.
    case contentTooLong
}

/// The report on an event's start, in one app and environment or in all.
package struct StartReport: Sendable, Hashable {
    package enum State: String, Sendable, Hashable, CaseIterable {
        /// The time of the start has not come.
        case scheduled
        /// The time of the start has come, but nothing can be sent yet (`StartWait`).
        case waiting
        case running
        /// Nothing is pending now; followers may still join until `until`.
        case done
        case stopped
    }

    package struct Counts: Sendable, Hashable {
        /// Installations that follow one of the event's topics.
        package var followers = 0
        /// Starts whose push APNs accepted with 200. This does not mean that a phone showed the activity.
        package var accepted = 0
        /// Installations whose apps reported the activity.
        package var confirmed = 0
        package var rejected = 0
        /// Starts whose push got no answer. Such a start is not repeated.
        package var unknown = 0
        package var pending = 0
        package var ineligible: [StartForm.Ineligible: Int] = [:]

        package init() {}

        package static func + (one: Self, other: Self) -> Self {
            var sum = one
            sum.followers += other.followers
            sum.accepted += other.accepted
            sum.confirmed += other.confirmed
            sum.rejected += other.rejected
            sum.unknown += other.unknown
            sum.pending += other.pending
            sum.ineligible.merge(other.ineligible, uniquingKeysWith: +)
            return sum
        }
    }

    /// Counts the pushes that were answered between the first push and the moment when nothing was left to send. Pushes
    /// to followers that joined later do not count, because their number per second depends on when the followers join.
    package struct Rate: Sendable, Hashable {
        package var answered: Int
        package var from: Date
        /// When nothing was left to send; `nil`: something is still left.
        package var until: Date?

        package init(answered: Int, from: Date, until: Date? = nil) {
            self.answered = answered
            self.from = from
            self.until = until
        }
    }

    package var state: State
    /// What the start waits for while its state is `waiting`.
    package var waitingFor: StartWait?
    /// Who asked for the start by hand, or else who declared the start, as the audit log names actors; `nil`: that was
    /// not recorded.
    package var by: String?
    /// When the first push was sent.
    package var startedAt: Date?
    /// The newest time at which no push was left to send. Followers may still register after it.
    package var finishedAt: Date?
    package var counts: Counts
    /// The number of refusals, by reason.
    package var byReason: [String: Int]
    /// `nil`: no push was sent.
    package var rate: Rate?

    package init(
        state: State, waitingFor: StartWait? = nil, startedAt: Date? = nil, finishedAt: Date? = nil,
        counts: Counts = Counts(),
        byReason: [String: Int] = [:], rate: Rate? = nil
    ) {
        self.state = state
        self.waitingFor = waitingFor
        self.startedAt = startedAt
        self.finishedAt = finishedAt
        self.counts = counts
        self.byReason = byReason
        self.rate = rate
    }

    /// Combines the reports of an event's audiences. The start is `running` as long as it is running for one audience.
    package init(of reports: [StartReport]) {
        let states = Set(reports.map(\.state))
        let order: [State] = [.running, .waiting, .stopped, .scheduled, .done]
        let state = order.first(where: states.contains) ?? .done
        self.init(
            state: state, waitingFor: state == .waiting ? reports.lazy.compactMap(\.waitingFor).first : nil,
            startedAt: reports.compactMap(\.startedAt).min(),
            finishedAt: reports.allSatisfy { $0.finishedAt != nil } ? reports.compactMap(\.finishedAt).max() : nil,
            counts: reports.map(\.counts).reduce(Counts(), +),
            byReason: reports.reduce(into: [:]) { $0.merge($1.byReason, uniquingKeysWith: +) },
            rate: Rate(of: reports.compactMap(\.rate)))
        by = reports.lazy.compactMap(\.by).first
    }

    /// The number of pushes answered per second while there were pushes to send; `nil` before the first push.
    package func perSecond(at now: Date) -> Double? {
        guard let rate else { return nil }
        return Double(rate.answered) / max((rate.until ?? now).timeIntervalSince(rate.from), 0.001)
    }
}

extension StartReport.Rate {
    /// The rates of several audiences as one; `nil`: no audience has a rate.
    fileprivate init?(of rates: [Self]) {
        guard let from = rates.map(\.from).min() else { return nil }
        self.init(
            answered: rates.map(\.answered).reduce(0, +), from: from,
            until: rates.allSatisfy { $0.until != nil } ? rates.compactMap(\.until).max() : nil)
    }
}
