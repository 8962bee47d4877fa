package import FoundationEssentials
internal import Grandstand
package import Logging
internal import ServiceLifecycle

/// Fetches calendars that are due and syncs them, each by one replica at a time.
package struct CalendarRefresher: Service {
    private let operations: CalendarOperations
    private let lease: TimeInterval
    private let drain: Drain
    private let now: @Sendable () -> Date
    private let mayClaim: @Sendable () -> Bool
    private let logger: Logger

    /// The longest sleep: declarations of calendars send no signal.
    private static let pollInterval = Duration.seconds(5)

    /// - Parameters:
    ///   - lease: longer than a fetch and a sync can take, in seconds.
    ///   - drain: how long a stop waits for a sync under way.
    package init(
        operations: CalendarOperations, lease: TimeInterval, drain: Drain, now: @escaping @Sendable () -> Date,
        mayClaim: @escaping @Sendable () -> Bool = { true }, logger: Logger
    ) {
        self.operations = operations
        self.lease = lease
        self.drain = drain
        self.now = now
        self.mayClaim = mayClaim
        self.logger = logger
    }

    /// Runs until a graceful stop.
    package func run() async {
        let loop = WorkLoop(
            .init(pollInterval: Self.pollInterval, retry: Self.pollInterval, drain: drain),
            failure: "calendars could not be looked up; trying again", logger: logger, now: now, mayClaim: mayClaim,
            claim: { _ in try await look() }, perform: refresh)
        await loop.run()
    }

    private func look() async throws -> Round<FixtureCalendar> {
        let calendar = try await operations.store.claimRefresh(
            now: now(), leasedUntil: now().addingTimeInterval(lease))
        return try await .claimed(calendar.map { [$0] } ?? []) { try await operations.store.nextRefresh() }
    }

    private func refresh(_ calendar: FixtureCalendar) async {
        var failure: String?
        do {
            try await operations.turns.withPermit { try await operations.refresh(calendar) }
        } catch {
            failure = (error as? Problem)?.detail ?? "Something went wrong here."
            logger.failed("the calendar \(calendar.name) could not be synced; trying again", error)
        }
        do {
            try await operations.store.concludeRefresh(of: calendar.name, failure: failure, now: now())
        } catch {
            logger.failed("what became of the calendar \(calendar.name) could not be noted", error)
        }
    }
}
