internal import ArgumentParser
internal import Foundation
internal import GrandstandServer
internal import Logging
internal import UnixSignals

/// `grandstand serve`: runs the server.
struct ServeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve", abstract: "Runs the server until SIGTERM or SIGINT.",
        discussion: """
            Uses the PostgreSQL in DATABASE_URL; if it is unset, a private one under GRANDSTAND_DATA_DIR. After a stop \
            signal the server accepts no new requests and finishes requests under way. Waiting messages stay in the \
            outbox.
            """)

    func run() async throws {
        CoreDumps.disable()
        let configuration = try Configuration(environment: ProcessInfo.processInfo.environment)
        let logger = configuration.makeLogger()
        if configuration.isProxyIgnored { logger.warning("HTTPS_PROXY is ignored: connections to APNs use no proxy") }
        // Handles the signals until the server runs and handles them itself.
        let signals = await UnixSignalsSequence(trapping: .sigterm, .sigint)
        let building = Task { try await Server.build(configuration, logger: logger) }
        let waiting = Task {
            for await _ in signals { return building.cancel() }
        }
        defer { waiting.cancel() }
        let built = await building.result
        guard !building.isCancelled else {
            logger.info("stopped before the server listened")
            if case .success(let server) = built { await server.close() }
            return
        }
        let server = try built.get()
        try await server.run(stoppingOn: [.sigterm, .sigint]) { _ in
        } onStop: {
            if let longest = server.longestStop { Self.leave(after: longest, logger) }
        }
    }

    /// Ends the process after this time, in any state, because PostgreSQL may hang, or may delay a commit because a
    /// standby is missing. The effect is that of `kill -9`: leases end, and work that was not recorded is repeated.
    private static func leave(after longest: Duration, _ logger: Logger) {
        // This is a system thread, so it runs even if all of Swift's threads are blocked.
        Thread.detachNewThread {
            Thread.sleep(forTimeInterval: longest / .seconds(1))
            logger.warning("the stop took too long, so the process ends now; see GRANDSTAND_DRAIN_SECONDS")
            _exit(0)
        }
    }
}
