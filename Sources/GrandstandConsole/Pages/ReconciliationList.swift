internal import APNsWire
internal import Grandstand

/// The reconciliations of an app in an environment.
struct ReconciliationList: ConsolePage {
    var template: TemplateName { .reconciliations }
    let title: String
    let appHref: String
    let channelsHref: String
    let rows: [ReconciliationRow]
    let pager: Pager
    let runs: [RunRow]

    init(
        _ app: AppEnvironment, _ reports: [ReconciliationReading], nextCursor: String?, _ visit: Visit
    ) {
        title = "Reconciliations of \(app.bundleID), \(app.environment.rawValue)"
        appHref = ConsolePath.app(app.bundleID)
        channelsHref = ConsolePath.channels(app)
        rows = reports.map { ReconciliationRow($0, app) }
        pager = Pager(visit, nextCursor: nextCursor)
        runs = [RunRow(.look, app), RunRow(.apply, app)]
    }
}

/// One line of the list.
struct ReconciliationRow: Sendable {
    let href: String
    let startedAt: Moment
    let actor: String
    let doing: String
    let apple: String
    let ledger: String
    let matched: String
    /// Of what was found, when the list has it.
    let missing: String
    let unmanaged: String
    let actions: String
    let alarm: String?

    init(_ report: ReconciliationReading, _ app: AppEnvironment) {
        href = ConsolePath.reconciliation(report.id, of: app)
        startedAt = Moment(iso: report.startedAt)
        actor = report.actor
        doing = report.applied ? "applied" : "looked only"
        apple = Wording.number(report.apple)
        ledger = Wording.number(report.ledger)
        matched = Wording.number(report.matched)
        func many(_ count: Int) -> String { report.isAbridged ? "see the report" : Wording.number(count) }
        missing = many(report.missing.count)
        unmanaged = many(report.unmanaged.count)
        actions = many(report.actions.count)
        alarm = report.alarm?.rawValue
    }
}

/// A reconciliation that may be run from here.
struct RunRow: Sendable {
    let label: String
    let words: String
    /// Where it is run at once; `nil`: it is asked about first.
    let runAction: String?
    let askHref: String?

    init(_ doing: Reconciling, _ app: AppEnvironment) {
        label = doing.label
        words = doing.words
        let path = ConsolePath.reconciling(app, doing)
        runAction = doing == .look ? path : nil
        askHref = doing == .look ? nil : path
    }
}
