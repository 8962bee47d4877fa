internal import ArgumentParser
internal import GrandstandClient

/// `grandstand quota`: how much of each app's limit is taken.
struct QuotaCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "quota", abstract: "How much of each app's limit is taken, and was.",
        subcommands: [List.self, History.self], defaultSubcommand: List.self)

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Shows quotas.")
        @OptionGroup var client: ClientOptions
        @OptionGroup var page: PageOptions

        func run() async throws {
            try await client.list(
                .listQuotas(), page,
                [
                    "bundleId", "environment", "level", "limit", "used", "reserved", "available", "unmanaged",
                    "missing", "forecast.peak", "alarm", "keyRefused.reason", "throttled.ratePerSecond",
                    "throttled.lanesWaiting",
                ])
        }
    }

    struct History: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Shows how much was taken, step by step.")
        @OptionGroup var client: ClientOptions
        @Option(help: "Only this app, by its bundle ID.") var app: String?
        @Option(help: "Only development, or production.") var environment: String?
        @Option(help: "Steps that end after this (RFC 3339); a day before --to without it.") var from: Moment?
        @Option(help: "Steps that end at this or before (RFC 3339); now without it.") var to: Moment?
        @Option(help: "How long a step is: 300, 5m, 1h, 1d.") var step: String?

        func run() async throws {
            try await client.show(
                .listQuotaHistory(
                    bundleId: app, environment: environment.map { .init(rawValue: $0) }, from: from?.date,
                    to: to?.date, step: step),
                ["at", "bundleId", "environment", "used", "reserved", "peak", "limit", "created", "deleted"])
        }
    }
}

/// `grandstand reconcile`: Apple's list against the ledger.
struct ReconcileCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "reconcile", abstract: "Compares Apple's list of channels with the ledger.",
        discussion: "Without --apply it only reports.")

    @OptionGroup var client: ClientOptions
    @OptionGroup var target: AppOptions
    @Flag(help: "Act on what was found.") var apply = false
    @Flag(help: "Take over channels the ledger does not know.") var adopt = false
    @Flag(help: "Delete channels the ledger does not know, within grace time and budget.") var deleteUnmanaged = false
    @Flag(help: "Replace missing channels even when all are gone.") var recreate = false

    func run() async throws {
        try await client.show(
            .reconcile(
                target.app, apply: apply, adopt: adopt, deleteUnmanaged: deleteUnmanaged, recreate: recreate))
    }
}

/// `grandstand reconciliation`: reports of reconciliations.
struct ReconciliationCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "reconciliation", abstract: "Reports of reconciliations.", subcommands: [List.self, Get.self])

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Lists reports, the newest first.")
        @OptionGroup var client: ClientOptions
        @OptionGroup var page: PageOptions
        @OptionGroup var target: AppOptions

        func run() async throws {
            try await client.list(
                .listReconciliations(of: target.app), page,
                [
                    "id", "startedAt", "actor", "applied", "apple", "ledger", "matched", "alarm",
                ])
        }
    }

    struct Get: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Shows a report.")
        @OptionGroup var client: ClientOptions
        @OptionGroup var target: AppOptions
        @Argument(help: "The report's ID.") var id: String

        func run() async throws { try await client.show(.getReconciliation(id, of: target.app)) }
    }
}

/// `grandstand audit`: who did what.
struct AuditCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "audit", abstract: "The audit log: who did what, the newest first.")

    @OptionGroup var client: ClientOptions
    @OptionGroup var page: PageOptions
    @Option(help: "Only what this actor did.") var actor: String?
    @Option(help: "Only this action, e.g. channel.created.") var action: String?
    @Option(help: "Only what concerns this app, by its bundle ID.") var app: String?
    @Option(help: "Only from this time on (RFC 3339).") var from: Moment?
    @Option(help: "Only before this time (RFC 3339).") var to: Moment?

    func run() async throws {
        try await client.list(
            .listAuditLog(
                actor: actor, action: action.map { .init(rawValue: $0) }, bundleId: app, from: from?.date, to: to?.date),
            page,
            ["at", "actor", "action", "bundleId", "environment", "eventKey", "channelId", "reason"])
    }
}
