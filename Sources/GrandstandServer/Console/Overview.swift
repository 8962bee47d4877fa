internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import Postgres

/// The console's start page for operators: problems, live events, messages, the state of APNs, and the quota of every
/// app.
struct Overview: ConsolePage {
    /// The seconds that the plots show before now, and after now.
    static let halfSpan: TimeInterval = 7 * 86_400

    var template: String { "overview" }
    let title = "Overview"
    var refresh: Int? { 5 }
    let attentions: [Attention]
    /// Live events.
    let rows: [EventRow]
    let figures: [Figure]
    /// At most 20. The apps with the most serious problems come first.
    let plots: [QuotaPlot]

    /// - Parameter quotas: those of the most serious level first.
    init(
        _ quotas: [Quota], live: [EventRow], _ figures: [Figure], samples: [Contract.QuotaSample], now: Date
    ) {
        let all = quotas.flatMap(Attention.list)
        attentions = all.filter { $0.level == "critical" } + all.filter { $0.level != "critical" }
        rows = live
        self.figures = figures
        let past = Dictionary(grouping: samples) { "\($0.bundleId) \($0.environment.rawValue)" }
        plots = quotas.filter(\.isPlotted).prefix(20).map { quota in
            let past = past["\(quota.bundleID) \(quota.environment.rawValue)"] ?? []
            return QuotaPlot(quota, past, span: Self.halfSpan, now: now)
        }
    }
}

extension Quota {
    var app: AppEnvironment { AppEnvironment(bundleID: bundleID, environment: environment) }

    /// The places that are taken: by existing channels, and by channels that are being created.
    var taken: Int { used + reserved }

    /// Whether the app has or will have a channel there, or something is wrong.
    var isPlotted: Bool { taken + forecast.peak + unmanaged > 0 || level != .ok }
}

/// A number in large type, to be read from a distance.
struct Figure: Sendable {
    let label: String
    let value: String
    var detail = ""
    /// `ok`, `warning`, `critical`; empty for a number that is neither good nor bad.
    var level = ""

    /// - Parameters:
    ///   - activity: the number of messages accepted within the last minute, and when the oldest unsettled message was
    ///     accepted; `nil`: nothing waits.
    ///   - apple: how this process reached APNs recently.
    static func all(
        _ activity: (messages: Int, oldest: Date?), _ apple: Contract.APNsReadiness, now: Date
    ) -> [Figure] {
        let wait = activity.oldest.map { max(0, Int(now.timeIntervalSince($0))) }
        let figures = [
            Figure(label: "Messages a minute", value: Wording.number(activity.messages)),
            Figure(
                label: "Oldest waiting", value: wait.map { "\(Wording.number($0)) s" } ?? "nothing waits",
                level: (wait ?? 0) > 60 ? "critical" : (wait ?? 0) > 10 ? "warning" : "ok"),
        ]
        return figures
            + [("development", apple.development), ("production", apple.production)].map { name, host in
                let level = host.state == .reachable ? "ok" : host.state == .notKnown ? "" : "critical"
                return Figure(
                    label: "Apple, \(name)", value: host.state.rawValue, detail: host.reason ?? "", level: level)
            }
    }
}

extension API {
    /// `/console`: the overview for operators. Organisers get the list of events instead.
    var overviewPages: [PageRoute] {
        [
            PageRoute("", nil) { visit in
                guard visit.key.holds(.operate) else {
                    try API.check(visit.key, for: [.operate, .organise])
                    return .redirect(ConsolePath.events)
                }
                let all = try await stores.channels.quotas(now: visit.now, tenure: configuration.tenure)
                // The most serious level comes first.
                let quotas = [Contract.QuotaLevel.critical, .warning, .ok].flatMap { level in
                    all.filter { $0.level == level && visit.reach.covers($0.bundleID) }
                }
                let live = try await stores.events.agenda(
                    where: EventFilter(state: .live, reach: visit.reach), limit: 20, now: visit.now)
                let samples = try await stores.channels.samples(
                    HistoryQuery(
                        reach: .only(Set(quotas.filter(\.isPlotted).prefix(20).map(\.bundleID))),
                        from: visit.now.addingTimeInterval(-Overview.halfSpan), to: visit.now,
                        step: HistoryQuery.coarse))
                let figures = Figure.all(
                    try await activity(within: visit.reach, now: visit.now), readiness().apns, now: visit.now)
                return .page(
                    Overview(quotas, live: try await rows(live), figures, samples: samples, now: visit.now))
            }
        ]
    }

    /// The number of messages accepted within the last minute for the apps of a key, and when the oldest unsettled message
    /// was accepted, among the lanes that are due or have a message under way; `nil`: there is no such message.
    ///
    /// Nobody needs an exact number beyond 100,000. The second part reads only the lanes that have something to send.
    private func activity(within reach: AppReach, now: Date) async throws -> (messages: Int, oldest: Date?) {
        let row = try await stores.longReads.query(
            """
            select (select count(*) from (
                select from broadcasts b where b.accepted_at > \(now.addingTimeInterval(-60)) and not b.scheduled
                    and \(EventReach.covers(reach, broadcast: "b"))
                limit 100000) m) as n,
            (select min(m.accepted_at) from (
                select lane from audiences where due_at is not null
                union select lane from deliveries where state = 'sending' and leased_until is not null and tokens is null) w
            cross join lateral (select * from audiences where lane = w.lane offset 0) l
            cross join lateral (
                select (select b.accepted_at from broadcasts b where b.id = d.broadcast_id) as accepted_at
                from deliveries d where d.lane = l.lane and d.settled_at is null and d.tokens is null order by d.id limit 1) m
            where \(EventReach.covers(reach, lane: "l"))) as at
            """)[0]
        return (try row.decode("n"), try row.decode("at"))
    }
}
