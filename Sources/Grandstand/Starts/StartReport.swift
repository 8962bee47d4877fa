package import FoundationEssentials

/// What a start whose time has come waits for.
package enum StartWait: String, Sendable, Hashable, CaseIterable {
    /// The audience's channel.
    case channel
    /// A place for that channel: the app has as many as it may.
    case room
    /// The first content.
    case content
    /// A shorter content: with the newest one APNs does not take the push.
    case contentTooLong
}

/// The report on an event's start, in one app and environment or in all.
package struct StartReport: Sendable, Hashable {
    package enum State: String, Sendable, Hashable, CaseIterable {
        /// Its time has not come.
        case scheduled
        /// Its time has come, and nothing can be sent yet (`StartWait`).
        case waiting
        case running
        /// Nothing is pending now; late followers may still come until `until`.
        case done
        case stopped
    }

    package struct Counts: Sendable, Hashable {
        /// Those that follow one of the event's topics.
        package var followers = 0
        /// APNs said 200: never "shown".
        package var accepted = 0
        /// Their apps reported the activity.
        package var confirmed = 0
        package var rejected = 0
        /// The answer never came: it is not repeated.
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

    /// Pushes from the first one until nothing was left. Late followers are none of them: they come when they come.
    package struct Rate: Sendable, Hashable {
        package var answered: Int
        package var from: Date
        /// `nil`: it goes on.
        package var until: Date?

        package init(answered: Int, from: Date, until: Date? = nil) {
            self.answered = answered
            self.from = from
            self.until = until
        }
    }

    package var state: State
    /// What it waits for while it is `waiting`.
    package var waitingFor: StartWait?
    /// Who asked for it by hand, else who declared it, as the audit log names its actors; `nil`: that was not kept.
    package var by: String?
    /// The first push was made.
    package var startedAt: Date?
    /// The last time nothing was left to send.
    package var finishedAt: Date?
    package var counts: Counts
    /// How many were refused with each reason.
    package var byReason: [String: Int]
    /// `nil`: no push was made.
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

    /// The reports of an event's audiences as one: it runs as long as one of them does.
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

    /// Pushes answered in a second, while there were some to make; `nil` before the first.
    package func perSecond(at now: Date) -> Double? {
        guard let rate else { return nil }
        return Double(rate.answered) / max((rate.until ?? now).timeIntervalSince(rate.from), 0.001)
    }
}

extension StartReport.Rate {
    /// Those of several audiences as one; `nil`: there is none.
    fileprivate init?(of rates: [Self]) {
        guard let from = rates.map(\.from).min() else { return nil }
        self.init(
            answered: rates.map(\.answered).reduce(0, +), from: from,
            until: rates.allSatisfy { $0.until != nil } ? rates.compactMap(\.until).max() : nil)
    }
}
