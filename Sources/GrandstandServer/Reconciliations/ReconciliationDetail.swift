internal import APNsWire
internal import Grandstand
internal import JSON

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

    init(_ report: ReconciliationReading, _ app: AppEnvironment) {
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
            case nil: nil
            }
        notes = report.notes
        plan = Table(
            "Actions, and whether they were carried out", nothing: "There was nothing to do.", report.actions,
            [
                Column("Action") { [.words($0.text("action"))] },
                Column("Apple's ID") { [.code($0.text("channelId"))] },
                Column("Event") { [.words(Wording.event($0.text("eventKey"), $0.text("variant")))] },
                Column("Outcome") { [.words($0.flag("done") ? "done" : "not done")] },
                Column("Why") { [.words(Reconciling.meaning(of: $0.text("action"))), .quoted($0.text("detail"))] },
            ])
        missing = Table(
            "Channels of the ledger that Apple no longer has", report.missing,
            Self.channel + [Column("Event") { [.event(EventKey(rawValue: $0.text("eventKey")))] }])
        unmanaged = Table(
            "Channels of Apple's list that the ledger does not know", report.unmanaged,
            Self.channel + [Column("First seen") { [.moment($0.moment("firstSeenAt"))] }])
        runs = Self.runs(report).map { RunRow($0, app) }
    }

    private static var channel: [Column<JSONValue>] {
        [
            Column("Apple's ID") { [.code($0.text("channelId"))] },
            Column("Storage policy") { [.words($0.text("storagePolicy"))] },
        ]
    }

    /// The reconciliations that make sense after this reconciliation. After the alarm `capabilityOff`, only an explicit
    /// `recreate` replaces the channels.
    private static func runs(_ report: ReconciliationReading) -> [Reconciling] {
        var runs: [Reconciling] = [.look]
        switch report.alarm {
        case .capabilityOff: return runs + [.recreate]
        case .listIncomplete: return runs
        case .ambiguousCreation, nil: break
        }
        if !report.applied, !report.missing.isEmpty || !report.actions.isEmpty { runs.append(.apply) }
        if !report.unmanaged.isEmpty { runs += [.adopt, .deleteUnmanaged] }
        return runs
    }
}
