internal import APNsWire
internal import Grandstand
internal import GrandstandContract

/// The page of one reconciliation: its findings, and its actions or planned actions.
struct ReconciliationDetail: ConsolePage {
    var template: TemplateName { .reconciliation }
    let title: String
    let listHref: String
    let facts: [Fact]
    let alarm: String?
    let alarmText: String?
    let notes: [String]
    let plan: Table
    let missing: Table
    let unmanaged: Table
    let runs: [RunRow]

    init(_ report: Contract.Reconciliation, _ app: AppEnvironment) {
        title = "Reconciliation of \(app.bundleID), \(app.environment.rawValue)"
        listHref = ConsolePath.reconciliations(app)
        facts = [
            Fact("Started", .moment(report.startedAt)), Fact("Finished", .moment(report.finishedAt)),
            Fact("By", .quoted(report.actor)),
            Fact(
                "Did", .words(report.applied ? "The actions were carried out." : "It only looked: nothing was changed.")
            ), Fact("Apple's list", .words(Wording.number(report.apple))),
            Fact("Ledger", .words(Wording.number(report.ledger))),
            Fact("In both", .words(Wording.number(report.matched))),
        ]
        alarm = report.alarm?.rawValue
        alarmText =
            switch report.alarm {
            case .capabilityOff:
                "Every known channel vanished at once, as when the Broadcast Capability is turned off. "
                    + "\(Advice.capability)"
            case .listIncomplete: "Apple has channels that are missing from its list: nothing can be concluded from it."
            case .ambiguousCreation:
                "Apple's list has channels that come from a request without an answer or from another system: "
                    + "none was adopted."
            case .unknown, nil: nil
            }
        notes = report.notes
        plan = Table(
            "Actions, and whether they were carried out", nothing: "There was nothing to do.", report.actions ?? [],
            [
                Column("Action") { [.words($0.action.rawValue)] },
                Column("Apple's ID") { [.code($0.channelId ?? "")] },
                Column("Event") { [.words(Wording.event($0.eventKey ?? "", $0.variant ?? ""))] },
                Column("Outcome") { [.words($0.done ? "done" : "not done")] },
                Column("Why") { [.words(Reconciling.meaning(of: $0.action)), .quoted($0.detail ?? "")] },
            ])
        missing = Table(
            "Channels of the ledger that Apple no longer has", report.missing ?? [],
            [
                Column("Apple's ID") { [.code($0.channelId ?? "")] },
                Column("Storage policy") { [.words($0.storagePolicy.rawValue)] },
                Column("Event") { [.event($0.eventKey.flatMap(EventKey.init))] },
            ])
        unmanaged = Table(
            "Channels of Apple's list that the ledger does not know", report.unmanaged ?? [],
            [
                Column("Apple's ID") { [.code($0.channelId)] },
                Column("Storage policy") { [.words($0.storagePolicy?.rawValue ?? "")] },
                Column("First seen") { [.moment($0.firstSeenAt)] },
            ])
        runs = Self.runs(report).map { RunRow($0, app) }
    }

    /// The reconciliations that make sense after this reconciliation. After the alarm `capabilityOff`, only an explicit
    /// `recreate` replaces the channels.
    private static func runs(_ report: Contract.Reconciliation) -> [Reconciling] {
        var runs: [Reconciling] = [.look]
        switch report.alarm {
        case .capabilityOff: return runs + [.recreate]
        case .listIncomplete: return runs
        case .ambiguousCreation, .unknown, nil: break
        }
        if !report.applied, report.missing?.isEmpty == false || report.actions?.isEmpty == false { runs.append(.apply) }
        if report.unmanaged?.isEmpty == false { runs += [.adopt, .deleteUnmanaged] }
        return runs
    }
}
