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

    init(
        _ quotas: [Quota], live: [EventRow], _ figures: [Figure], samples: [Contract.QuotaSample], span: Span,
        _ visit: Visit
    ) {
        let sorted = Self.order(quotas)
        let all = sorted.flatMap(Attention.list)
        attentions = all.filter { $0.level == "critical" } + all.filter { $0.level != "critical" }
        rows = live
        self.figures = figures
        self.quotas = Self.table(sorted.filter(\.isUsed))
        unused = sorted.filter { !$0.isUsed }.map { quota in
            let label = "\(quota.bundleID), \(quota.environment.rawValue)"
            return Piece.Link(label: label, href: ConsolePath.channels(quota.place))
        }
        let byApp = Dictionary(grouping: samples) { "\($0.bundleId) \($0.environment.rawValue)" }
        func past(_ quota: Quota) -> [Contract.QuotaSample]? {
            byApp["\(quota.bundleID) \(quota.environment.rawValue)"]
        }
        plots = sorted.filter { $0.isUsed || past($0) != nil }.prefix(Self.plotted).map {
            quota in QuotaPlot(quota, past(quota) ?? [], step: span.step, span: span.seconds, now: visit.now)
        }
        spans = Span.allCases.map { other in
            Choice(
                ConsolePath.link(ConsolePath.overview, [("span", other.rawValue)]), label: other.rawValue,
                isChosen: other == span)
        }
        mayRegister = quotas.isEmpty && visit.key.holds(.admin)
    }
}

extension Overview {
    /// Sorts the most serious level first.
    static func order(_ quotas: [Quota]) -> [Quota] {
        quotas.sorted {
            ($0.level.gravity, $0.bundleID, $0.environment) < ($1.level.gravity, $1.bundleID, $1.environment)
        }
    }

    static func table(_ quotas: [Quota]) -> Table {
        Table(
            "Places of each app and environment: taken now, and what the declared events will take",
            limit: .max, quotas,
            [
                Column("App") { [.link($0.bundleID.rawValue, ConsolePath.app($0.bundleID))] },
                Column("Environment") { [.link($0.environment.rawValue, ConsolePath.channels($0.place))] },
                Column("Taken") { [.bar($0.bar)] },
                Column("Level") { [.level($0.level.rawValue, $0.level.rawValue)] },
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

    /// - Parameter apple: how this process reached APNs recently.
    static func all(_ activity: ConsoleActivity, _ apple: Contract.APNsReadiness, now: Date) -> [Figure] {
        let wait = activity.oldestWaiting.map { max(0, Int(now.timeIntervalSince($0))) }
        let waiting = Figure(
            label: "Oldest waiting", value: wait.map { "\(Wording.number($0)) s" } ?? "nothing waits",
            detail: wait == nil
                ? "All that was due has been sent." : "Since the oldest message that is due was accepted.",
            level: wait.map { $0 > 60 ? "critical" : $0 > 10 ? "warning" : "ok" } ?? "ok")
        let messages = Figure(
            label: "Messages a minute", value: Wording.number(activity.messages),
            detail: "Accepted in the last sixty seconds.", level: "")
        let hosts = [("development", apple.development), ("production", apple.production)].map { name, host in
            let (value, level) =
                switch host.state {
                case .notKnown: ("not asked yet", "")
                case .reachable: ("reachable", "ok")
                case .refused: ("refuses a key", "critical")
                case .unreachable, .unknown: ("unreachable", "critical")
                }
            return Figure(label: "Apple, \(name)", value: value, detail: host.reason ?? "", level: level)
        }
        return [messages, waiting] + hosts
    }
}

extension Contract.QuotaLevel {
    /// The rank for sorting. The most serious level has the lowest rank.
    fileprivate var gravity: Int { [.critical, .warning].firstIndex(of: self) ?? 2 }
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
                let quotas = try await stores.channels.quotas(now: visit.now, tenure: configuration.tenure)
                    .filter { visit.reach.covers($0.bundleID) }
                let live = try await stores.events.agenda(
                    where: EventFilter(state: .live, reach: visit.reach), limit: 20, now: visit.now)
                let samples = try await stores.channels.samples(
                    QuotaHistory(
                        reach: .only(Set(Overview.order(quotas).prefix(Overview.plotted).map(\.bundleID))),
                        from: visit.now.addingTimeInterval(-span.seconds), to: visit.now, step: span.step))
                let activity = try await ConsoleActivity(stores.reports, within: visit.reach, now: visit.now)
                let figures = Figure.all(activity, readiness().apns, now: visit.now)
                return .page(
                    Overview(quotas, live: try await rows(live), figures, samples: samples, span: span, visit))
            }
        ]
    }
}

/// The present activity, restricted to the apps of a key.
struct ConsoleActivity: Sendable {
    /// Messages accepted within the last minute.
    var messages: Int
    /// When the oldest unsettled message was accepted, among the lanes that are due or have a message under way; `nil`:
    /// there is no such message.
    var oldestWaiting: Date?

    /// The highest count. Nobody needs an exact number beyond it.
    private static let counted = 100_000
}

extension ConsoleActivity {
    /// Reads the numbers. The second query reads only the lanes that have something to send.
    init(_ database: Database, within reach: AppReach, now: Date) async throws {
        let accepted = try await database.query(
            """
            select count(*) as n from (
                select from broadcasts b where b.accepted_at > \(now.addingTimeInterval(-60)) and not b.scheduled
                    and \(EventReach.covers(reach, broadcast: "b"))
                limit \(Self.counted)) m
            """)
        let waiting = try await database.query(
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
        self.init(messages: try accepted.first?.decode("n") ?? 0, oldestWaiting: try waiting.first?.decode("at"))
    }
}
