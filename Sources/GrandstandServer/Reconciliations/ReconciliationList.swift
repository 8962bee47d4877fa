internal import APNsWire
internal import Grandstand
internal import GrandstandContract

/// The reconciliations of an app in an environment.
struct ReconciliationList: ConsolePage {
    var template: TemplateName { .reconciliations }
    let title: String
    let appHref: String
    let channelsHref: String
    let reports: Table
    let pager: Pager
    let runs: [RunRow]

    init(_ app: AppEnvironment, _ page: Contract.Page<Contract.Reconciliation>, _ visit: Visit) {
        title = "Reconciliations of \(app.bundleID), \(app.environment.rawValue)"
        appHref = ConsolePath.app(app.bundleID)
        channelsHref = ConsolePath.channels(app)
        self.reports = Self.table(page.items, app)
        pager = Pager(visit, nextCursor: page.nextCursor)
        runs = [RunRow(.look, app), RunRow(.apply, app)]
    }

    static func table(_ reports: [Contract.Reconciliation], _ app: AppEnvironment) -> Table {
        /// A column with a number of findings. If a report is abridged, its cell refers to the full report.
        func many(
            _ label: String, _ count: @escaping (Contract.Reconciliation) -> Int?
        ) -> Column<Contract.Reconciliation> {
            Column(label, isNumber: true) { [.words(count($0).map { Wording.number($0) } ?? "see the report")] }
        }
        return Table(
            "Apple's list against the ledger, the newest first", nothing: "There was none yet.", reports,
            [
                Column("Started") { report in
                    [.link(Moment(report.startedAt), ConsolePath.reconciliation(report.id, of: app))]
                }, Column("By") { [.quoted($0.actor)] },
                Column("Did") { [.words($0.applied ? "applied" : "looked only")] },
                .number("Apple's list") { $0.apple }, .number("Ledger") { $0.ledger },
                .number("In both") { $0.matched }, many("Missing") { $0.missing?.count },
                many("Unmanaged") { $0.unmanaged?.count }, many("Actions") { $0.actions?.count },
                Column("Alarm") { $0.alarm.map { [Piece.level("critical", $0.rawValue)] } ?? [] },
            ])
    }
}

/// A reconciliation that can be started on this page.
struct RunRow: Sendable {
    let label: String
    let words: String
    /// The address that runs the reconciliation at once; `nil`: a page asks first.
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
