package import FoundationEssentials
package import Grandstand
package import Logging
internal import ServiceLifecycle

/// Deletes history that is older than its retention, in small steps, so that no other transaction waits for it.
package struct Janitor: Service {
    private let history: any PrunableStore
    private let settings: Settings
    private let now: @Sendable () -> Date
    private let logger: Logger

    package struct Settings: Sendable {
        /// Seconds something that is done with is kept.
        package var keep: TimeInterval
        /// The kind of rows that are deleted, for the log.
        package var things: String
        /// How many rows one statement deletes.
        package var step = 500
        /// Between two steps.
        package var pause: Duration = .milliseconds(100)
        /// Between two rounds.
        package var interval: Duration = .seconds(600)

        package init(keep: TimeInterval, of things: String = "broadcasts") {
            self.keep = keep
            self.things = things
        }
    }

    package init(
        history: any PrunableStore, settings: Settings, now: @escaping @Sendable () -> Date, logger: Logger
    ) {
        self.history = history
        self.settings = settings
        self.now = now
        self.logger = logger
    }

    package func run() async {
        await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                await round()
                try? await Task.sleep(for: settings.interval)
            }
        }
    }

    /// Everything that is old enough now.
    func round() async {
        do {
            var total = 0
            while !Task.isCancelled {
                let count = try await history.prune(
                    before: now().addingTimeInterval(-settings.keep), limit: settings.step)
                total += count
                guard count == settings.step else { break }
                try await Task.sleep(for: settings.pause)
            }
            if total > 0 { logger.info("history forgotten", metadata: [settings.things: "\(total)"]) }
        } catch {
            logger.failed("history could not be forgotten; trying again later", error, at: .warning)
        }
    }
}
