internal import ArgumentParser
internal import Grandstand

/// `grandstand quota`: how much of each app's limit is taken.
struct QuotaCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "quota", abstract: "Shows quotas.")

    @OptionGroup var client: ClientOptions
    @OptionGroup var page: PageOptions

    func run() async throws {
        client.show(
            try await client.call("GET", "/v1/quotas", query: page.query),
            [
                "bundleId", "environment", "level", "limit", "used", "reserved", "available", "unmanaged", "missing",
                "forecast.peak", "alarm", "tokensRefused.reason",
            ])
    }
}

/// `grandstand reconcile`: Apple's list against the ledger.
struct ReconcileCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "reconcile", abstract: "Compares Apple's list of channels with the ledger.",
        discussion: "Without --apply it only reports.")

    @OptionGroup var client: ClientOptions
    @Argument(help: "The bundle ID.") var bundleID: String
    @Argument(help: "development or production.") var environment: String
    @Flag(help: "Act on what was found.") var apply = false
    @Flag(help: "Take over channels the ledger does not know.") var adopt = false
    @Flag(help: "Delete channels the ledger does not know, within grace time and budget.") var deleteUnmanaged = false
    @Flag(help: "Replace missing channels even when all are gone.") var recreate = false

    func run() async throws {
        var body = JSONWriter()
        body.object { object in
            object.member("apply", apply)
            object.member("adopt", adopt)
            object.member("deleteUnmanaged", deleteUnmanaged)
            object.member("recreate", recreate)
        }
        let path = "/v1/apps/\(encoded(bundleID))/\(encoded(environment))/reconciliations"
        client.show(try await client.call("POST", path, body: body.bytes), [])
    }
}
