internal import APNsWire
internal import FoundationEssentials
internal import Grandstand

/// Every app in both environments, and what an operator has to do.
struct Overview: ConsolePage {
    var template: TemplateName { .overview }
    let title = "Overview"
    var refresh: Int? { 10 }
    let attentions: [Attention]
    let quotas: [QuotaRow]
    let remedy: Command

    init(_ quotas: [Quota]) {
        let sorted = quotas.sorted {
            ($0.level.gravity, $0.bundleID, $0.environment) < ($1.level.gravity, $1.bundleID, $1.environment)
        }
        let all = sorted.flatMap(Attention.list)
        attentions = all.filter { $0.level == "critical" } + all.filter { $0.level != "critical" }
        self.quotas = sorted.map(QuotaRow.init)
        remedy = quotas.isEmpty ? .registerApp() : .quota()
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
