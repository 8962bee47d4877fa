internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract

/// Counts the pushes that were answered between the first push and the moment when nothing was left to send. Pushes to
/// followers that joined later do not count, because their number per second depends on when the followers join.
struct StartRate: Sendable, Hashable {
    var answered: Int
    var from: Date
    /// When nothing was left to send; `nil`: something is still left.
    var until: Date?

    init(answered: Int, from: Date, until: Date? = nil) {
        self.answered = answered
        self.from = from
        self.until = until
    }

    /// The rates of several audiences as one; `nil`: no audience has a rate.
    init?(of rates: [Self]) {
        guard let from = rates.map(\.from).min() else { return nil }
        self.init(
            answered: rates.map(\.answered).reduce(0, +), from: from,
            until: rates.allSatisfy { $0.until != nil } ? rates.compactMap(\.until).max() : nil)
    }

    /// The number of pushes answered per second while there were pushes to send.
    func perSecond(at now: Date) -> Double {
        (Double(answered) / max((until ?? now).timeIntervalSince(from), 0.001)).tenths
    }
}

extension Contract.StartReport {
    /// The report of an event's start, from those of its audiences. The start is `running` as long as it is running for
    /// one audience.
    init(_ audiences: [Contract.AudienceStart], rates: [StartRate], by: String?, at now: Date) {
        let states = Set(audiences.map(\.state))
        let order: [Contract.StartState] = [.running, .waiting, .stopped, .scheduled, .done]
        let state = order.first(where: states.contains) ?? .done
        self.init(
            state: state, waitingFor: state == .waiting ? audiences.lazy.compactMap(\.waitingFor).first : nil,
            startedAt: audiences.compactMap(\.startedAt).min(),
            finishedAt: audiences.allSatisfy { $0.finishedAt != nil } ? audiences.compactMap(\.finishedAt).max() : nil,
            counts: audiences.map(\.counts).reduce(Contract.StartCounts(), +),
            byReason: audiences.reduce(into: [:]) { $0.merge($1.byReason, uniquingKeysWith: +) },
            perSecond: StartRate(of: rates)?.perSecond(at: now), by: by, audiences: audiences)
    }
}

extension Contract.StartCounts {
    /// No followers.
    init() {
        self.init(
            followers: 0, accepted: 0, confirmed: 0, rejected: 0, unknown: 0, pending: 0,
            ineligible: .init(system: 0, disabled: 0, noToken: 0, tooLate: 0))
    }

    static func + (one: Self, other: Self) -> Self {
        let (first, second) = (one.ineligible, other.ineligible)
        return Self(
            followers: one.followers + other.followers, accepted: one.accepted + other.accepted,
            confirmed: one.confirmed + other.confirmed, rejected: one.rejected + other.rejected,
            unknown: one.unknown + other.unknown, pending: one.pending + other.pending,
            ineligible: .init(
                system: first.system + second.system, disabled: first.disabled + second.disabled,
                noToken: first.noToken + second.noToken, tooLate: first.tooLate + second.tooLate))
    }
}

extension Contract.IneligibleCounts {
    /// All followers that get no start.
    var total: Int { system + disabled + noToken + tooLate }
}
