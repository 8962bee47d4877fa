internal import ArgumentParser
internal import Foundation
internal import Grandstand
internal import GrandstandApp
internal import JSON
internal import Logging
internal import MatchDriver

/// `grandstand rehearse`: plays a day's events against the simulator and reports what would happen.
struct RehearseCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rehearse",
        abstract: "Plays a day's events against the simulator, with its own database, and reports the results.",
        discussion: """
            Reads the day's events from the configured database. With --url or --key, or if GRANDSTAND_URL or \
            GRANDSTAND_API_KEY is set, reads them from that running server. Declares them with their real rules and \
            limits in a temporary PostgreSQL, on a compressed day, and sends updates and ends. With --fault it does \
            this a second time, with the fault. Nothing reaches Apple or the configured database. docs/organising.md \
            describes the report.
            """)

    @Option(help: "The day, as 2026-11-28: events that start on it are played.")
    var day: String

    @Option(help: "The time zone of the day, e.g. Europe/Vienna.")
    var timeZone = "UTC"

    @Option(help: "Seconds of the day in one second of the rehearsal.")
    var speed = 60.0

    @Option(parsing: .upToNextOption, help: "Only these events: keys, or globs such as 'bl1:*'.")
    var events: [String] = []

    @Option(help: "Updates of each event, spread over its duration, before its end.")
    var messages = 40

    @Option(
        help:
            "A recorded feed in place of --messages: a JSON line for each state, {\"at\": 61.5, \"contentState\": {…}}.",
        completion: .file())
    var feed: String?

    @Option(help: "Simulated phones, each of which follows one of the day's topics.")
    var phones = 500

    @Option(help: "A second run with this fault: outage (APNs answers 503), replica (a server is killed) or database.")
    var fault: RehearsalFault.Kind?

    @Option(help: "The URL of a running server; overrides GRANDSTAND_URL.")
    var url: String?

    @Option(help: "The secret of a key with the scope organise; overrides GRANDSTAND_API_KEY.")
    var key: String?

    @Flag(help: "Print the report as JSON.")
    var json = false

    func validate() throws {
        _ = try RehearsalDay(day, in: timeZone)
        guard (1...10_000).contains(speed) else {
            throw ValidationError(
                "--speed \(speed): a number from 1 to 10000 was expected; 60 plays an hour in a minute.")
        }
        guard (0...10_000).contains(messages) else {
            throw ValidationError("--messages \(messages): a number from 0 to 10000 was expected.")
        }
        guard (0...50_000).contains(phones) else {
            throw ValidationError("--phones \(phones): a number from 0 to 50000 was expected.")
        }
    }

    func run() async throws {
        let report = try await interruptible { try await rehearse() }
        print(json ? String(decoding: JSONWriter.text(report), as: UTF8.self) : report.text)
    }

    private func rehearse() async throws -> RehearsalReport {
        let day = try RehearsalDay(day, in: timeZone)
        let environment = ProcessInfo.processInfo.environment
        let feed = try feed.map { try RehearsalFeed(file: $0) }
        let settings = try RehearsalSettings.of(environment, speed: speed)
        let season = try await season(of: day, environment)
        guard
            let plan = RehearsalPlan(
                playing: season.played.map(\.event), others: season.others.map(\.event), day: day.range,
                messages: messages, feed: feed?.times, speed: speed)
        else { throw StartError("no event of \(day.text) has a start time") }
        let declared = Dictionary((season.played + season.others).map { ($0.event.key, $0) }) { first, _ in first }
        let followers = RehearsalPhones(phones, following: season.played)
        var runs: [RehearsalRun] = []
        for fault in [nil, fault] where runs.isEmpty || fault != nil {
            let name = fault.map { "with the fault \($0.rawValue)" } ?? "without a fault"
            progress("Rehearsing \(day.text) \(name): \(Int(plan.seconds.rounded(.up))) s or a little more")
            let record = try await RehearsalStage.with(settings, secondServer: fault == .replica) { stage in
                try await RehearsalPlayer.play(
                    plan, declared, limits: season.limits, contents: season.contents, feed: feed, phones: followers,
                    fault: fault, on: stage)
            }
            runs.append(RehearsalRun(record, of: plan, limits: season.limits))
        }
        return RehearsalReport(
            day: day.text, zone: day.zone, timeZone: day.timeZone, plan: plan,
            messages: feed.map { $0.times.count - 1 } ?? messages,
            phones: followers.count, runs: runs)
    }

    /// The declared events, and the limits and content types of their apps.
    private func season(
        of day: RehearsalDay, _ environment: [String: String]
    ) async throws -> (
        played: [DeclaredEvent], others: [DeclaredEvent], limits: [AppEnvironment: Int], contents: [RehearsalContent]
    ) {
        try await withSource(environment) { source in
            var (played, others) = try await day.events(of: source, matching: events)
            var (limits, known): ([AppEnvironment: Int], [BundleID: Int]) = ([:], [:])
            for app in Set((played + others).flatMap(\.apps)) {
                if known[app.bundleID] == nil { known[app.bundleID] = try await source.channelLimit(app.bundleID) }
                limits[app] = known[app.bundleID]
            }
            var contents: [BundleID: [RehearsalContent]] = [:]
            for bundleID in known.keys { contents[bundleID] = try await source.contents(bundleID) }
            for index in played.indices { played[index].find(in: contents) }
            return (played, others, limits, contents.values.flatMap(\.self))
        }
    }

    private func withSource<Value>(
        _ environment: [String: String], _ body: (RehearsalSource) async throws -> Value
    ) async throws -> Value {
        let names = ["GRANDSTAND_URL", "GRANDSTAND_API_KEY"]
        if url != nil || key != nil || names.contains(where: { environment[$0].map { !$0.isEmpty } ?? false }) {
            return try await body(.server(try ServerAccess(url: url, key: key)))
        }
        let configuration = try Configuration(environment: environment)
        let session = try await DatabaseSession.open(
            configuration.database, sharing: true, logger: configuration.makeLogger())
        return try await withCleanup({ await session.close() }) { try await body(.database(session)) }
    }

    /// Prints progress to standard error, because standard output contains only the report.
    private func progress(_ text: String) { FileHandle.standardError.write(Data("\(text)\n".utf8)) }
}

extension RehearsalFault.Kind: ExpressibleByArgument {}
