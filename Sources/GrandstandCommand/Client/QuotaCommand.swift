internal import ArgumentParser
internal import GrandstandClient

/// `grandstand quota`: how much of each app's channel limit is used.
struct QuotaCommand: AsyncParsableCommand, Listed, Shown {
    static let configuration = CommandConfiguration(
        commandName: "quota", abstract: "How much of each app's channel limit is used, now and in the past.",
        subcommands: [ListCommand<Self>.self, ShowCommand<Self>.self], defaultSubcommand: ListCommand<Self>.self)

    static let list = Verb<NoArguments, _>(
        "list", "Shows quotas.",
        columns: [
            "bundleId", "environment", "level", "limit", "used", "reserved", "available", "unmanaged", "missing",
            "forecast.peak", "alarm", "keyRefused.reason", "throttled.since", "throttled.lanesWaiting",
        ]
    ) { _ in .listQuotas() }
    static let show = Verb<History, _>(
        "history", "Shows how much was used, step by step.",
        columns: ["at", "bundleId", "environment", "used", "reserved", "peak", "limit", "created", "deleted"]
    ) {
        .listQuotaHistory(
            bundleId: $0.app, environment: $0.environment?.value, from: $0.from?.date, to: $0.to?.date, step: $0.step)
    }

    struct History: ParsableArguments {
        @Option(help: "Only this app, by its bundle ID.") var app: String?
        @Option(help: "Only development, or production.") var environment: Word<Contract.Environment>?
        @Option(help: "Steps that end after this time (RFC 3339). Without it: a day before --to.") var from: Moment?
        @Option(help: "Steps that end at this time or before (RFC 3339). Without it: now.") var to: Moment?
        @Option(help: "The length of a step: 300, 5m, 1h, 1d.") var step: String?
    }
}

/// `grandstand reconcile`: compares Apple's list with the ledger.
struct Reconcile: ParsableArguments, Shown {
    @OptionGroup var target: AppOptions
    @Flag(help: "Act on the differences.") var apply = false
    @Flag(help: "Take over channels that the ledger does not know.") var adopt = false
    @Flag(
        help:
            "Delete channels that the ledger does not know, after GRANDSTAND_RECONCILE_GRACE; at most GRANDSTAND_RECONCILE_DELETE_BUDGET."
    )
    var deleteUnmanaged = false
    @Flag(help: "Replace missing channels even if all are gone.") var recreate = false

    static let show = Verb<Self, _>(
        "reconcile", "Compares Apple's list of channels with the ledger.",
        discussion: "Without --apply it only reports."
    ) {
        .reconcile(
            $0.target.app, apply: $0.apply, adopt: $0.adopt, deleteUnmanaged: $0.deleteUnmanaged,
            recreate: $0.recreate)
    }
}

/// `grandstand reconciliation`: reports of reconciliations.
struct ReconciliationCommand: AsyncParsableCommand, Noun, Listed, Shown {
    static let configuration = CommandConfiguration(
        commandName: "reconciliation", abstract: "Reports of reconciliations.",
        subcommands: [ListCommand<Self>.self, ShowCommand<Self>.self])

    static let id: ArgumentHelp = "The report's ID."
    static let list = Verb<AppOptions, _>(
        "list", "Lists reports, the newest first.",
        columns: ["id", "startedAt", "actor", "applied", "apple", "ledger", "matched", "alarm"]
    ) { .listReconciliations(of: $0.app) }
    static let show = Verb<IDInApp<Self>, _>("get", "Shows a report.") { .getReconciliation($0.id, of: $0.target.app) }
}

/// `grandstand audit`: who changed what.
enum AuditLog: Listed {
    static let list = Verb<Filter, _>(
        "audit", "The audit log: who did what, the newest first.",
        columns: ["at", "actor", "action", "bundleId", "environment", "eventKey", "channelId", "reason"]
    ) {
        .listAuditLog(
            actor: $0.actor, action: $0.action?.value, bundleId: $0.app, event: $0.event, from: $0.from?.date,
            to: $0.to?.date)
    }

    struct Filter: ParsableArguments {
        @Option(help: "Only what this actor did.") var actor: String?
        @Option(help: "Only this action, e.g. channel.created.") var action: Word<Contract.AuditAction>?
        @Option(help: "Only what concerns this app, by its bundle ID.") var app: String?
        @Option(help: "Only what concerns this event. The scope organise is enough for it.") var event: String?
        @Option(help: "Only from this time on (RFC 3339).") var from: Moment?
        @Option(help: "Only before this time (RFC 3339).") var to: Moment?
    }
}
