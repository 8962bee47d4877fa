package import FoundationEssentials
package import Grandstand
package import Logging
internal import ServiceLifecycle

/// Takes samples of all quotas every five minutes of the database's clock, one replica for all. What no replica was there
/// to see is a gap: nothing is made up for it later.
package struct QuotaSampler: Service {
    package struct Settings: Sendable {
        /// How long events hold their channels: what `ChannelStore.quotas` asks for.
        package var tenure: ChannelTenure
        /// Between two looks at the clock.
        package var pause: Duration = .seconds(5)
        /// Seconds after which a sample is too late to stand for its time.
        package var patience: TimeInterval = 60

        package init(tenure: ChannelTenure) { self.tenure = tenure }
    }

    private let channels: any ChannelStore
    private let history: any QuotaHistoryStore
    private let settings: Settings
    private let now: @Sendable () -> Date
    private let outages: OutageLog

    package init(
        channels: any ChannelStore, history: any QuotaHistoryStore, settings: Settings,
        now: @escaping @Sendable () -> Date, logger: Logger
    ) {
        self.channels = channels
        self.history = history
        self.settings = settings
        self.now = now
        outages = OutageLog("quotas could not be sampled", logger)
    }

    package func run() async {
        await cancelWhenGracefulShutdown {
            var last = Date.distantPast
            while !Task.isCancelled {
                last = await turn(since: last)
                try? await Task.sleep(for: settings.pause)
            }
        }
    }

    /// Takes the sample that is due, if there is one.
    ///
    /// - Parameter last: the time this replica needs not look at any more.
    /// - Returns: the same for the next turn.
    func turn(since last: Date) async -> Date {
        let now = now()
        let due = QuotaHistory.end(of: QuotaHistory.fine, at: now)
        guard due > last, now.timeIntervalSince(due) <= settings.patience else { return last }
        do {
            if try await history.lacks(due) {
                _ = try await history.record(try await channels.quotas(now: now, tenure: settings.tenure), at: due)
            }
            outages.worked()
            return due
        } catch {
            if !Task.isCancelled { outages.failed(error) }
            return last
        }
    }
}
