internal import ArgumentParser
internal import Foundation
internal import Logging

/// Two commands, `MatchDay` and `MatchDay saturday`, each with its own options.
@main
enum Main {
    static func main() async {
        let arguments = Array(CommandLine.arguments.dropFirst())
        if arguments.first == "saturday" {
            await SaturdayCommand.main(Array(arguments.dropFirst()))
        } else {
            await MatchDay.main(arguments)
        }
    }
}

/// A match day with replicas behind HAProxy, a primary and a synchronous standby. At fixed intervals a process is
/// killed. In the end the simulator's journal shows what APNs received.
struct MatchDay: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "matchday",
        abstract: "Plays a match day through replicas that are killed by turns, and judges it by what Apple saw.",
        discussion: """
            Every so many seconds a replica is killed, by turns, and started again. At half time the primary dies for \
            good and its standby is promoted. At three quarters every replica is replaced by the newer build, one after \
            the other. Exits with 1 when something accepted was lost, went back in time, or a channel leaked.
            """)

    @Option(help: "How long updates are sent.") var seconds = 600
    @Option(help: "Updates a minute, of all matches together.") var updates = 2_000
    @Option(help: "Matches at the same time.") var matches = 100
    @Option(help: "Seconds between two kills.") var killEvery = 20
    @Option(help: "The program to run. Default: grandstand in the folder of this program.") var grandstand: String?
    @Option(help: "The newer build that replaces it; unset, the same again.") var newer: String?
    @Option(help: "Where HAProxy listens; the replicas have the next ports.") var port = 18_080
    @Option(help: "HAProxy's configuration.") var haproxy = "docker/haproxy.cfg"

    func run() async throws {
        let beside = Bundle.main.bundleURL.appending(path: "grandstand").path
        let isGood = try await Ground.with(
            program: grandstand ?? beside, port: port, loadBalancer: haproxy, logger: Self.logger, play)
        if !isGood { throw ExitCode(1) }
    }

    private func play(_ ground: Ground) async throws -> Bool {
        let organisers = try Organisers(
            matches: matches, updatesPerMinute: updates, seconds: seconds, organiser: ground.organiser)
        try await organisers.declare()
        say("\(matches) matches have their channels; \(updates) updates a minute for \(seconds) s begin")
        let start = ContinuousClock.now
        async let called = organisers.send()
        let incidents = try await kill(on: ground, from: start)
        let calls = try await called
        say("everything was sent; waiting until everything is settled")
        let verdict = try await Verdict(calls: calls, ground: ground, matches: matches)
        print(verdict.text(seconds: seconds, incidents: incidents))
        return verdict.isGood
    }

    /// Kills or replaces processes at fixed intervals until the sending ends. Returns a description of each incident.
    private func kill(on ground: Ground, from start: ContinuousClock.Instant) async throws -> [String] {
        var incidents: [String] = []
        var victim = 0
        // The last incident is some seconds before the end, so that the test shows whether sending continues after it.
        let moments = Array(stride(from: killEvery, to: seconds - killEvery / 2, by: killEvery))
        for (index, moment) in moments.enumerated() {
            try await Task.sleep(until: start + .seconds(moment), clock: .continuous)
            let what: String
            switch index {
            case moments.count / 2:
                try await ground.failOver()
                what = "the primary died for good, its standby was promoted"
            case moments.count * 3 / 4:
                try await ground.replaceAll(by: newer)
                what = "every replica was replaced\(newer.map { " by \($0)" } ?? "")"
            default:
                try await ground.killReplica(victim)
                what = "replica \(victim + 1) was killed, and started again"
                victim = (victim + 1) % Ground.replicas
            }
            say(what)
            incidents.append("\(moment) s: \(what)")
        }
        return incidents
    }

    private func say(_ text: String) { FileHandle.standardError.write(Data("matchday: \(text)\n".utf8)) }

    static let logger: Logger = {
        var logger = Logger(label: "matchday") { StreamLogHandler.standardError(label: $0) }
        logger.logLevel = .error
        return logger
    }()
}
