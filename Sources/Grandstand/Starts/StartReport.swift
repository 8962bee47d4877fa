package import FoundationEssentials

/// What has become of an event's start, in one app and environment or in all.
package struct StartReport: Sendable, Hashable {
    package enum State: String, Sendable, Hashable, CaseIterable {
        /// Its time has not come.
        case scheduled
        /// It waits for the channel, or for a content to show.
        case waiting
        case running
        /// Nothing is pending now; late followers may still come until `until`.
        case done
        case stopped
    }

    package struct Counts: Sendable, Hashable {
        /// Who follow one of the event's topics.
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

    package var state: State
    /// The first push was made.
    package var startedAt: Date?
    /// The last time nothing was left to send.
    package var finishedAt: Date?
    package var counts: Counts
    /// How many were refused with each reason.
    package var byReason: [String: Int]

    package init(
        state: State, startedAt: Date? = nil, finishedAt: Date? = nil, counts: Counts = Counts(),
        byReason: [String: Int] = [:]
    ) {
        self.state = state
        self.startedAt = startedAt
        self.finishedAt = finishedAt
        self.counts = counts
        self.byReason = byReason
    }

    /// The reports of an event's audiences as one: it runs as long as one of them does.
    package init(of reports: [StartReport]) {
        let states = Set(reports.map(\.state))
        let order: [State] = [.running, .waiting, .stopped, .scheduled, .done]
        self.init(
            state: order.first(where: states.contains) ?? .done, startedAt: reports.compactMap(\.startedAt).min(),
            finishedAt: reports.allSatisfy { $0.finishedAt != nil } ? reports.compactMap(\.finishedAt).max() : nil,
            counts: reports.map(\.counts).reduce(Counts(), +),
            byReason: reports.reduce(into: [:]) { $0.merge($1.byReason, uniquingKeysWith: +) })
    }

    /// Pushes answered in a second, from the first push to the last; `nil` before the first.
    package func perSecond(at now: Date) -> Double? {
        guard let startedAt else { return nil }
        let answered = counts.accepted + counts.rejected + counts.unknown
        let end = state == .running ? now : finishedAt ?? now
        return Double(answered) / max(end.timeIntervalSince(startedAt), 0.001)
    }
}
