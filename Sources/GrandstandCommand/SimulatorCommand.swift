internal import APNsSimulator
internal import ArgumentParser
internal import Foundation
internal import Logging
internal import ServiceLifecycle
internal import UnixSignals

/// `grandstand simulator`: APNs as a program.
struct SimulatorCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "simulator",
        abstract: "Behaves like APNs: broadcast channels over HTTP/2 and TLS, kept in memory.",
        discussion: """
            Serves the development environment on --port and production on the next one, each with the management and \
            the broadcast paths. Prints one line that begins with "listening" and serves until SIGTERM or SIGINT.

            DIR/ca.pem is what a client must trust; DIR/AuthKey_SIMULATOR1.p8 is a provider key of key id SIMULATOR1 \
            and team SIMULATOR1. Both are made unless they are there. Tokens of any other AuthKey_<KEYID>.p8 in DIR \
            at the start are accepted too.
            """)

    @Option(help: "The development environment's port; production has the next one. 0: two free ports.")
    var port = 8443

    @Option(help: "The folder of the certificate authority and the provider keys; made if it is not there.")
    var dir: String

    @Option(help: "The address to listen on.")
    var host = "127.0.0.1"

    @Option(help: "Capitals in a bundle ID on management paths: refused (403 TopicMismatch, as seen live) or accepted.")
    var capitals = CapitalsRule.refused

    @Option(help: "Channels of one app in one environment.")
    var channelLimit = SimulatorOptions(directory: "").channelLimit

    @Option(help: "KEYID=TEAM: that key's team; TEAM alone: the team of all other keys. May be repeated.")
    var team: [String] = []

    func run() async throws {
        var options = SimulatorOptions(directory: dir)
        options.host = host
        options.port = port
        options.capitals = capitals
        options.channelLimit = channelLimit
        options.teams = try KeyTeams(parsing: team)
        // Nothing reads the program's journal: refusals are logged as they happen.
        options.journalCapacity = 0

        let logger = Logger(label: "simulator") { StreamLogHandler.standardError(label: $0) }
        let simulator = Simulator(options: options, logger: logger) { addresses in
            try? FileHandle.standardOutput.write(contentsOf: Data("\(addresses)\n".utf8))
        }
        try await ServiceGroup(
            services: [simulator], gracefulShutdownSignals: [.sigterm, .sigint], logger: logger
        ).run()
    }
}

extension CapitalsRule: ExpressibleByArgument {}
