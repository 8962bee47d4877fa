internal import APNsWire
internal import FoundationEssentials
internal import Grandstand

/// What is on now: what needs an operator, the live events, the messages, Apple, and the places of every app.
struct Overview: ConsolePage {
    /// How much time the plots show, before now and after.
    enum Span: String, Sendable, CaseIterable {
        case day, week, month

        var seconds: TimeInterval {
            switch self {
            case .day: 86_400
            case .week: 7 * 86_400
            case .month: 30 * 86_400
            }
        }

        /// Of the samples.
        var step: Int {
            self == .day ? QuotaHistory.fine : self == .week ? QuotaHistory.coarse : 6 * QuotaHistory.coarse
        }
    }

    struct SpanLink: Sendable {
        let text: String
        let href: String
        let isChosen: Bool
    }

    /// How many plots there are at most, the gravest first.
    static let plotted = 20

    var template: TemplateName { .overview }
    let title = "Overview"
    var refresh: Int? { 5 }
    let attentions: [Attention]
    let liveEvents: [LiveEventRow]
    let hasMoreLive: Bool
    let figures: [Figure]
    let quotas: [QuotaRow]
    let plots: [QuotaPlot]
    let spans: [SpanLink]
    let mayRegister: Bool

    init(
        _ quotas: [Quota], live: Page<Event>, _ activity: ConsoleActivity, samples: [QuotaSample], span: Span,
        _ visit: Visit
    ) {
        let sorted = Self.order(quotas)
        let all = sorted.flatMap(Attention.list)
        attentions = all.filter { $0.level == "critical" } + all.filter { $0.level != "critical" }
        liveEvents = live.items.map(LiveEventRow.init)
        hasMoreLive = live.nextCursor != nil
        figures = Figure.all(activity, now: visit.now)
        self.quotas = sorted.map(QuotaRow.init)
        let byApp = Dictionary(grouping: samples) { AppEnvironment(bundleID: $0.bundleID, environment: $0.environment) }
        // An app that uses one environment only has no use for an empty drawing of the other.
        plots = sorted.filter { $0.used + $0.reserved + $0.forecast.peak > 0 || byApp[$0.place] != nil }
            .prefix(Self.plotted).map { quota in
                QuotaPlot(quota, byApp[quota.place] ?? [], step: span.step, span: span.seconds, now: visit.now)
            }
        spans = Span.allCases.map { other in
            SpanLink(
                text: other.rawValue, href: ConsolePath.link(ConsolePath.overview, [("span", other.rawValue)]),
                isChosen: other == span)
        }
        mayRegister = quotas.isEmpty && visit.key.holds(.admin)
    }
}

extension Overview {
    /// The gravest first.
    static func order(_ quotas: [Quota]) -> [Quota] {
        quotas.sorted {
            ($0.level.gravity, $0.bundleID, $0.environment) < ($1.level.gravity, $1.bundleID, $1.environment)
        }
    }
}

extension Quota {
    fileprivate var place: AppEnvironment { AppEnvironment(bundleID: bundleID, environment: environment) }
}

/// An event that is on.
struct LiveEventRow: Sendable {
    let name: String
    let href: String
    let startsAt: Moment?
    /// `2 active, 1 failed`
    let channels: String

    init(_ event: Event) {
        name = event.specification.name
        href = ConsolePath.event(event.specification.key)
        startsAt = event.specification.startsAt.map { Moment($0) }
        channels = Wording.tally(event.channels.map(\.state.rawValue))
    }
}

/// A number that is looked at from across the room.
struct Figure: Sendable {
    let label: String
    let value: String
    let detail: String
    /// `ok`, `warning`, `critical`; empty where nothing is good or bad.
    let level: String

    static func all(_ activity: ConsoleActivity, now: Date) -> [Figure] {
        let wait = activity.oldestWaiting.map { max(0, Int(now.timeIntervalSince($0))) }
        let waiting = Figure(
            label: "Oldest waiting", value: wait.map { "\(Wording.number($0)) s" } ?? "nothing waits",
            detail: wait == nil
                ? "All that was due has been sent." : "Since the oldest message that is due was accepted.",
            level: wait.map { $0 > 60 ? "critical" : $0 > 10 ? "warning" : "ok" } ?? "ok")
        let messages = Figure(
            label: "Messages a minute", value: Wording.number(activity.messages),
            detail: "Accepted in the last sixty seconds.", level: "")
        return [messages, waiting]
            + activity.apple.map { apple in
                Figure(
                    label: "Apple, \(apple.environment.rawValue)", value: apple.word, detail: apple.detail ?? "",
                    level: apple.isFine.map { $0 ? "ok" : "critical" } ?? "")
            }
    }
}

/// One app in one environment.
struct QuotaRow: Sendable {
    let bundleID: String
    let href: String
    let environment: String
    /// Places taken, by channels and by creations on their way; for a bar out of `barMaximum`.
    let taken: Int
    let barMaximum: Int
    /// From here on it is a warning, and critical.
    let barHigh: Int
    let barCritical: Int
    let takenText: String
    let level: String
    let reserved: String
    let missing: String
    let unmanaged: String
    let peak: String
    let peakAt: Moment
    /// When the limit would be exceeded.
    let exceedsAt: Moment?
    /// What Apple's list had, at the last reconciliation.
    let listed: String
    let listedAt: Moment?
    let channelsHref: String
    let reconciliationsHref: String

    init(_ quota: Quota) {
        let app = AppEnvironment(bundleID: quota.bundleID, environment: quota.environment)
        bundleID = quota.bundleID.rawValue
        href = ConsolePath.app(quota.bundleID)
        environment = quota.environment.rawValue
        taken = quota.used + quota.reserved
        barMaximum = max(1, quota.capacity)
        barHigh = quota.capacity * 80 / 100
        barCritical = quota.capacity * 95 / 100
        takenText = "\(Wording.number(taken)) of \(Wording.number(quota.capacity))"
        level = quota.level.rawValue
        reserved = Wording.number(quota.reserved)
        missing = Wording.number(quota.missing)
        unmanaged = Wording.number(quota.unmanaged)
        peak = Wording.number(quota.forecast.peak)
        peakAt = Moment(quota.forecast.peakAt)
        exceedsAt = quota.forecast.exceedsAt.map { Moment($0) }
        listed = quota.apple.map { Wording.count($0.count, "channel") } ?? "not read yet"
        listedAt = quota.apple.map { Moment($0.at) }
        channelsHref = ConsolePath.channels(app)
        reconciliationsHref = ConsolePath.reconciliations(app)
    }
}

extension Quota.Level {
    /// The gravest first.
    fileprivate var gravity: Int {
        switch self {
        case .critical: 0
        case .warning: 1
        case .ok: 2
        }
    }
}
