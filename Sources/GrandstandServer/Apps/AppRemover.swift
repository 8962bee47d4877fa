internal import FoundationEssentials
internal import Logging
internal import ServiceLifecycle

/// Removes the remaining rows of deleted apps, in small steps. After each step it pauses for as long as the step took,
/// so that other work can use the database. If the process dies, another process continues the removal.
struct AppRemover: Service {
    private let remove: @Sendable () async throws -> Bool
    private let interval: Duration
    private let now: @Sendable () -> Date
    private let logger: Logger

    /// - Parameters:
    ///   - interval: the time between two checks for deleted apps.
    ///   - remove: makes one step, and returns whether another step may be needed.
    init(
        interval: Duration = .seconds(5), now: @escaping @Sendable () -> Date, logger: Logger,
        remove: @escaping @Sendable () async throws -> Bool
    ) {
        self.remove = remove
        self.interval = interval
        self.now = now
        self.logger = logger
    }

    func run() async {
        let loop = WorkLoop<Never>(
            .init(restPerRound: 1, pollInterval: interval, retry: interval),
            failure: "the remaining rows of deleted apps could not be removed", logger: logger, now: now
        ) {
            try await remove() ? .idle(until: now()) : .idle()
        }
        await loop.run()
    }
}
