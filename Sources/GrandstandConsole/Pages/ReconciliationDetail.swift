internal import APNsWire
internal import Grandstand

/// One reconciliation: what it found, what it did or would do.
struct ReconciliationDetail: ConsolePage {
    var template: TemplateName { .reconciliation }
    let title: String
    let listHref: String
    let startedAt: Moment
    let finishedAt: Moment
    let actor: String
    let doing: String
    let apple: String
    let ledger: String
    let matched: String
    let alarm: String?
    let alarmText: String?
    let notes: [String]
    let missing: Excerpt<FoundChannelRow>
    let unmanaged: Excerpt<FoundChannelRow>
    let actions: Excerpt<ActionRow>
    let runs: [RunRow]

    init(_ report: ReconciliationReading, _ app: AppEnvironment) {
        title = "Reconciliation of \(app.bundleID), \(app.environment.rawValue)"
        listHref = ConsolePath.reconciliations(app)
        startedAt = Moment(iso: report.startedAt)
        finishedAt = Moment(iso: report.finishedAt)
        actor = report.actor
        doing = report.applied ? "The actions were carried out." : "It only looked: nothing was changed."
        apple = Wording.number(report.apple)
        ledger = Wording.number(report.ledger)
        matched = Wording.number(report.matched)
        alarm = report.alarm?.rawValue
        alarmText =
            switch report.alarm {
            case .capabilityOff:
                "Every known channel vanished at once, as when the Broadcast Capability is turned off. \(Advice.capability)"
            case .listIncomplete: "Apple has channels that its list lacks: nothing can be concluded from it."
            case .ambiguousCreation:
                "Apple's list has channels that an unanswered creation or another system may have made: none was taken."
            case nil: nil
            }
        notes = report.notes
        missing = Excerpt(report.missing.map(FoundChannelRow.init))
        unmanaged = Excerpt(report.unmanaged.map(FoundChannelRow.init))
        actions = Excerpt(report.actions.map(ActionRow.init))
        runs = Self.runs(report).map { RunRow($0, app) }
    }

    /// What there is to be done about it, if anything; after an alarm, replacing everything is asked for by its name.
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

/// The beginning of a list that may have thousands.
struct Excerpt<Row: Sendable>: Sendable {
    static var limit: Int { 200 }

    let count: String
    let rows: [Row]
    /// How many are left out, in words.
    let remainder: String?

    init(_ all: [Row]) {
        count = Wording.number(all.count)
        rows = Array(all.prefix(Self.limit))
        let rest = all.count - rows.count
        remainder =
            rest > 0 ? "\(Wording.number(rest)) more are not shown here; the API's report has them all." : nil
    }
}

/// A channel that was missing, or that nobody knew.
struct FoundChannelRow: Sendable {
    let channelID: String
    let storagePolicy: String
    let event: String
    let eventHref: String?
    let firstSeenAt: Moment?

    init(_ channel: ReconciliationReading.Channel) {
        channelID = channel.channelID
        storagePolicy = channel.storagePolicy
        event = channel.event
        eventHref = EventKey(rawValue: channel.eventKey).map(ConsolePath.event)
        firstSeenAt = channel.firstSeenAt.map(Moment.init(iso:))
    }
}

/// One action of the plan.
struct ActionRow: Sendable {
    let action: String
    let channelID: String
    let event: String
    let outcome: String
    /// What it means, in words.
    let meaning: String
    let detail: String

    init(_ action: ReconciliationReading.Action) {
        self.action = action.name
        channelID = action.channelID
        event = action.event
        outcome = action.done ? "done" : "not done"
        meaning = Reconciling.meaning(of: action.name)
        detail = action.detail
    }
}
