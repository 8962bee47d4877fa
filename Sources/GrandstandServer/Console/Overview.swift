internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import Postgres

/// The console's start page for operators: problems, live events, messages, the state of APNs, and the quota of every
/// app.
struct Overview: ConsolePage {
    /// The time that the plots show before and after now.
    enum Span: String, Sendable, CaseIterable {
        case day, week, month

        var seconds: TimeInterval { 86_400 * (self == .day ? 1 : self == .week ? 7 : 30) }

        /// Seconds between two samples of a plot.
        var step: Int {
            self == .day ? QuotaHistory.fine : self == .week ? QuotaHistory.coarse : 6 * QuotaHistory.coarse
        }
    }

    /// The maximum number of plots. The apps with the most serious problems come first.
    static let plotted = 20

    var template: String { "overview" }
    let title = "Overview"
    var refresh: Int? { 5 }
    let attentions: [Attention]
    /// Live events.
    let rows: [EventRow]
    let figures: [Figure]
    let quotas: Table
    /// The environments in which no channel exists or is foreseen.
    let unused: [Piece.Link]
    let plots: [QuotaPlot]
    /// The links that choose the span.
    let spans: [Choice]
    let mayRegister: Bool

    /// - Parameter quotas: those of the most serious level first.
    init(
        _ quotas: [Quota], live: [EventRow], _ figures: [Figure], samples: [Contract.QuotaSample], span: Span,
        _ visit: Visit
    ) {
        let all = quotas.flatMap(Attention.list)
        attentions = all.filter { $0.level == "critical" } + all.filter { $0.level != "critical" }
        rows = live
        self.figures = figures
        self.quotas = Self.table(quotas.filter(\.isUsed))
        unused = quotas.filter { !$0.isUsed }.map { quota in
            let label = "\(quota.bundleID), \(quota.environment.rawValue)"
            return Piece.Link(label: label, href: ConsolePath.channels(quota.place))
        }
        let past = Dictionary(grouping: samples) { "\($0.bundleId) \($0.environment.rawValue)" }
        plots = quotas.map { ($0, past["\($0.bundleID) \($0.environment.rawValue)"] ?? []) }
            .filter { $0.0.isUsed || !$0.1.isEmpty }.prefix(Self.plotted).map { quota, past in
                QuotaPlot(quota, past, step: span.step, span: span.seconds, now: visit.now)
            }
        spans = Span.allCases.map {
            Choice("\(Console.path)?span=\($0)", label: $0.rawValue, isChosen: $0 == span)
        }
        mayRegister = quotas.isEmpty && visit.key.holds(.admin)
    }
}

extension Overview {
    static func table(_ quotas: [Quota]) -> Table {
        Table(
            "Places of each app and environment: taken now, and what the declared events will take", quotas,
            [
                Column("App") { [.link($0.bundleID.rawValue, ConsolePath.app($0.bundleID))] },
                Column("Environment") { [.link($0.environment.rawValue, ConsolePath.channels($0.place))] },
                Column("Taken") { [.bar($0.bar)] },
                Column("Level") { [.level(level: $0.level.rawValue, text: $0.level.rawValue)] },
                Column("Most to come") { quota in
                    [.words("\(Wording.number(quota.forecast.peak)) at"), .moment(quota.forecast.peakAt)]
                }, Column("Limit exceeded") { [.moment($0.forecast.exceedsAt, else: "not foreseen")] },
                // The number of channels that Apple listed at the last reconciliation.
                Column("Apple's list") { quota in
                    [
                        .link(
                            quota.apple.map { Wording.count($0.count, "channel") } ?? "not read yet",
                            ConsolePath.reconciliations(quota.place)), .moment(quota.apple?.at),
                    ]
                },
            ])
    }
}

extension Quota {
    var place: AppEnvironment { AppEnvironment(bundleID: bundleID, environment: environment) }

    /// The places that are taken: by existing channels, and by channels that are being created.
    var taken: Int { used + reserved }

    /// Whether the app has or will have a channel there, or something is wrong.
    var isUsed: Bool { taken + forecast.peak + unmanaged > 0 || level != .ok }

    /// A bar of the limit. It shows the places taken now, and the highest number of further places that the declared
    /// events will need.
    var bar: Bar {
        Bar(
            [(kind: level.rawValue, count: taken), (kind: "foreseen", count: max(0, forecast.peak - taken))],
            of: capacity, limit: capacity, text: "\(Wording.number(taken)) of \(Wording.number(capacity))")
    }
}

/// A number in large type, to be read from a distance.
struct Figure: Sendable {
    let label: String
    let value: String
    let detail: String
    /// `ok`, `warning`, `critical`; empty for a number that is neither good nor bad.
    let level: String

    /// - Parameters:
    ///   - activity: the number of messages accepted within the last minute, and when the oldest unsettled message was
    ///     accepted; `nil`: nothing waits.
    ///   - apple: how this process reached APNs recently.
    static func all(
        _ activity: (messages: Int, oldest: Date?), _ apple: Contract.APNsReadiness, now: Date
    ) -> [Figure] {
        let wait = activity.oldest.map { max(0, Int(now.timeIntervalSince($0))) }
        let figures = [
            Figure(
                label: "Messages a minute", value: Wording.number(activity.messages),
                detail: "Accepted in the last sixty seconds.", level: ""),
            Figure(
                label: "Oldest waiting", value: wait.map { "\(Wording.number($0)) s" } ?? "nothing waits",
                detail: wait == nil
                    ? "All that was due has been sent." : "Since the oldest message that is due was accepted.",
                level: (wait ?? 0) > 60 ? "critical" : (wait ?? 0) > 10 ? "warning" : "ok"),
        ]
        return figures
            + [("development", apple.development), ("production", apple.production)].map { name, host in
                let (value, level) =
                    switch host.state {
                    case .notKnown: ("not asked yet", "")
                    case .reachable: ("reachable", "ok")
                    case .refused: ("refuses a key", "critical")
                    case .unreachable, .unknown: ("unreachable", "critical")
                    }
                return Figure(label: "Apple, \(name)", value: value, detail: host.reason ?? "", level: level)
            }
    }
}

extension API {
    /// `/console`: the overview for operators. Organisers get the list of events instead.
    var overviewPages: [PageRoute] {
        [
            PageRoute("", nil) { visit in
                guard visit.key.holds(.operate) else {
                    if visit.key.holds(.organise) { return .elsewhere(ConsolePath.events) }
                    throw Problem(
                        .forbidden,
                        "The console needs a key with the scope operate or organise; the key \(visit.key.name) has "
                            + "neither. Sign out, and in again with another one.")
                }
                let span = try visit.query.choice("span", Overview.Span.self) ?? .day
                let all = try await stores.channels.quotas(now: visit.now, tenure: configuration.tenure)
                // The most serious level comes first.
                let quotas = [Contract.QuotaLevel.critical, .warning, .ok].flatMap { level in
                    all.filter { $0.level == level && visit.reach.covers($0.bundleID) }
                }
                let live = try await stores.events.agenda(
                    where: EventFilter(state: .live, reach: visit.reach), limit: 20, now: visit.now)
                let samples = try await stores.channels.samples(
                    QuotaHistory(
                        reach: .only(Set(quotas.prefix(Overview.plotted).map(\.bundleID))),
                        from: visit.now.addingTimeInterval(-span.seconds), to: visit.now, step: span.step))
                let figures = Figure.all(
                    try await activity(within: visit.reach, now: visit.now), readiness().apns, now: visit.now)
                return .page(
                    Overview(quotas, live: try await rows(live), figures, samples: samples, span: span, visit))
            }
        ]
    }

    /// The number of messages accepted within the last minute for the apps of a key, and when the oldest unsettled message
    /// was accepted, among the lanes that are due or have a message under way; `nil`: there is no such message.
    ///
    /// Nobody needs an exact number beyond 100,000. The second query reads only the lanes that have something to send.
    private func activity(within reach: AppReach, now: Date) async throws -> (messages: Int, oldest: Date?) {
        let accepted = try await stores.reports.query(
            """
            select count(*) as n from (
                select from broadcasts b where b.accepted_at > \(now.addingTimeInterval(-60)) and not b.scheduled
                    and \(EventReach.covers(reach, broadcast: "b"))
                limit 100000) m
            """)
        let waiting = try await stores.reports.query(
            """
            select min(m.accepted_at) as at from (
                select lane from audiences where due_at is not null
                union select lane from deliveries where state = 'sending' and leased_until is not null and tokens is null) w
            cross join lateral (select * from audiences where lane = w.lane offset 0) l
            cross join lateral (
                select (select b.accepted_at from broadcasts b where b.id = d.broadcast_id) as accepted_at
                from deliveries d where d.lane = l.lane and d.settled_at is null and d.tokens is null order by d.id limit 1) m
            where \(EventReach.covers(reach, lane: "l"))
            """)
        return (try accepted[0].decode("n"), try waiting[0].decode("at"))
    }
}
