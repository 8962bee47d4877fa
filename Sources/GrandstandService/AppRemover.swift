package import FoundationEssentials
package import Logging
internal import ServiceLifecycle

/// Removes what is left of apps that were deleted, in small steps: while it works, it leaves the database to others for as
/// long as each step took. A process that dies in the midst of it leaves the rest to the next.
package struct AppRemover: Service {
    private let remove: @Sendable () async throws -> Bool
    private let interval: Duration
    private let now: @Sendable () -> Date
    private let logger: Logger

    /// - Parameters:
    ///   - interval: between two looks whether an app was deleted.
    ///   - remove: makes a step, and returns whether another may be needed.
    package init(
        interval: Duration = .seconds(5), now: @escaping @Sendable () -> Date, logger: Logger,
        remove: @escaping @Sendable () async throws -> Bool
    ) {
        self.remove = remove
        self.interval = interval
        self.now = now
        self.logger = logger
    }

    package func run() async {
        let loop = WorkLoop<Never>(
            .init(restPerRound: 1, pollInterval: interval, retry: interval),
            failure: "what is left of deleted apps could not be removed", logger: logger, now: now
        ) {
            try await remove() ? .idle(until: now()) : .idle()
        }
        await loop.run()
    }
}
