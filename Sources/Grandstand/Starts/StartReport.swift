package import FoundationEssentials
package import GrandstandContract

extension Contract.StartReport {
    /// The report of an event's start, from those of its audiences. The start is `running` as long as it is running for
    /// one audience.
    ///
    /// - Parameter answered: the number of pushes that were answered before nothing was left to send.
    package init(_ audiences: [Contract.AudienceStart], answered: Int, by: String?, at now: Date) {
        let states = Set(audiences.map(\.state))
        let order: [Contract.StartState] = [.running, .waiting, .stopped, .scheduled, .done]
        let state = order.first(where: states.contains) ?? .done
        let begun = audiences.filter { $0.startedAt != nil }
        let startedAt = begun.compactMap(\.startedAt).min()
        let finishedAt = begun.allSatisfy { $0.finishedAt != nil } ? begun.compactMap(\.finishedAt).max() : nil
        self.init(
            state: state, waitingFor: state == .waiting ? audiences.lazy.compactMap(\.waitingFor).first : nil,
            startedAt: startedAt, finishedAt: finishedAt,
            counts: audiences.map(\.counts).reduce(Contract.StartCounts(), +),
            byReason: audiences.reduce(into: [:]) { $0.merge($1.byReason, uniquingKeysWith: +) },
            perSecond: Self.rate(answered, from: startedAt, until: finishedAt ?? now), by: by, audiences: audiences)
    }

    /// - Returns: pushes per second; `nil`: none was answered.
    package static func rate(_ answered: Int, from: Date?, until: Date) -> Double? {
        guard answered > 0, let from else { return nil }
        return (Double(answered) / max(until.timeIntervalSince(from), 0.001)).oneDecimal
    }
}

extension Contract.StartCounts {
    /// No followers.
    package init() {
        self.init(
            followers: 0, accepted: 0, confirmed: 0, rejected: 0, unknown: 0, pending: 0,
            ineligible: .init(system: 0, disabled: 0, noToken: 0, tooLate: 0))
    }

    package static func + (one: Self, other: Self) -> Self {
        let parts: [WritableKeyPath<Self, Int>] = [
            \.followers, \.accepted, \.confirmed, \.rejected, \.unknown, \.pending, \.ineligible.system,
            \.ineligible.disabled, \.ineligible.noToken, \.ineligible.tooLate,
        ]
        return parts.reduce(into: one) { $0[keyPath: $1] += other[keyPath: $1] }
    }
}

extension Contract.IneligibleCounts {
    /// All followers that get no start.
    package var total: Int { system + disabled + noToken + tooLate }
}
