internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import Postgres

/// The audiences in one app and environment that an event's start is for, in the order of their declaration. Each
/// follower is started on one of the audiences that are not over (`VariantChoice`).
struct StartAudiences {
    private var standings: [StartStanding]

    /// The next step of the app's run.
    enum Turn {
        /// No more starts are sent.
        case close
        /// Nothing can be sent before this time.
        case wait(until: Date)
        case send(Pushes)
    }

    /// The pushes that can be sent now.
    struct Pushes {
        /// An audience that a follower may be started on.
        struct Place {
            /// The variant as the column has it: empty for an audience without a variant.
            let variant: String
            let delivery: Audience.Delivery
            /// The index in `pushes` of the audience's push; `nil`: nothing can be started on this audience yet.
            let push: Int?
            /// The broadcast whose content the push shows; `nil`: the push shows the declared content.
            let content: UUID?
            let channelMadeAt: Date?
        }

        let places: [Place]
        let pushes: [StartShard.Push]
        let alerts: LocaleLookup<[UInt8]>
        let until: Date
        let choice: VariantChoice

        init(_ open: [(standing: StartStanding, turn: StartStanding.Turn)], alerts: [String: [UInt8]], until: Date) {
            var places: [Place] = []
            var pushes: [StartShard.Push] = []
            for (standing, turn) in open {
                var place: Int?
                if case .send(let push) = turn {
                    place = pushes.count
                    pushes.append(push)
                }
                places.append(
                    Place(
                        variant: AudienceColumns.text(standing.audience.variant), delivery: standing.delivery,
                        push: place, content: standing.content, channelMadeAt: standing.channelMadeAt))
            }
            self.places = places
            self.pushes = pushes
            self.alerts = LocaleLookup(alerts)
            self.until = until
            choice = VariantChoice(open.map { $0.standing.audience.variant?.rawValue })
        }

        /// Whether the audiences of all these variants still wait, so that no start can be sent for them.
        func waits(_ variants: Set<String>) -> Bool {
            variants.isSubset(of: places.lazy.filter { $0.push == nil }.map(\.variant))
        }
    }

    /// - Parameter rows: rows with `StartStanding.columns`; at least one.
    init(_ rows: [PostgresRow]) throws { standings = try rows.map(StartStanding.init) }

    /// The declaration of the start, which is the same for all audiences.
    var declaration: Contract.Start? { standings[0].declaration }
    var topics: [String] { standings[0].topics }

    /// The audiences as if somebody had asked for the start by hand.
    func asked(at now: Date) -> Self {
        var asked = self
        asked.standings = standings.map { $0.asked(at: now) }
        return asked
    }

    /// Whether no more starts are sent, unless somebody resumes the start, moves its times or reopens the event.
    func isOver(at now: Date) -> Bool { standings.allSatisfy { $0.isOver(at: now) } }

    func turn(at now: Date) -> Turn {
        let open = turns(at: now)
        guard let first = open.first?.standing, let declaration = first.declaration, let window = first.window else {
            return .close
        }
        let pushes = Pushes(open, alerts: declaration.localAlerts, until: window.until)
        guard pushes.pushes.isEmpty else { return .send(pushes) }
        let times = open.compactMap { open in if case .wait(let until, _) = open.turn { until } else { nil } }
        return .wait(until: times.min() ?? now)
    }

    /// - Parameters:
    ///   - isSending: whether pushes are under way.
    ///   - isLeft: whether a follower without a start may still get one.
    ///   - variants: the variants of the followers that may still get a start; empty: any variant.
    func state(
        at now: Date, isSending: Bool, isLeft: Bool, of variants: Set<String>
    ) -> (state: Contract.StartState, waitingFor: Contract.StartWait?) {
        if standings[0].isStopped { return (.stopped, nil) }
        let open = turns(at: now)
        guard let first = open.first?.standing else { return (.done, nil) }
        if isSending { return (.running, nil) }
        guard let window = first.window, window.from <= now else { return (.scheduled, nil) }
        guard isLeft else { return (.done, nil) }
        var reasons: [Contract.StartWait] = []
        for (standing, turn) in open
        where variants.isEmpty || variants.contains(AudienceColumns.text(standing.audience.variant)) {
            guard case .wait(_, let reason?) = turn else { return (.running, nil) }
            reasons.append(reason)
        }
        return reasons.first.map { (.waiting, $0) } ?? (.running, nil)
    }

    /// The audiences that are not over, each with its next step.
    private func turns(at now: Date) -> [(standing: StartStanding, turn: StartStanding.Turn)] {
        standings.compactMap { standing in
            let turn = standing.turn(at: now)
            if case .close = turn { return nil }
            return (standing, turn)
        }
    }
}
