internal import FoundationEssentials
internal import Grandstand
internal import Logging
internal import ServiceLifecycle

/// Samples all quotas every five minutes of the database's clock. Each replica takes each sample; the first one stays.
/// If no replica runs, the samples are missing and are not added later.
struct QuotaSampler: Service {
    struct Settings: Sendable {
        /// How long events hold their channels, for the quota's forecast.
        var tenure: ChannelTenure
        /// The longest delay in seconds with which a due sample may still be taken.
        var patience: TimeInterval = 60
    }

    let channels: ChannelStore
    let history: QuotaHistoryStore
    let settings: Settings
    let now: @Sendable () -> Date
    let logger: Logger

    func run() async {
        let loop = WorkLoop<Never>(
            .init(pollInterval: .seconds(60), retry: .seconds(5)), failure: "quotas could not be sampled",
            logger: logger, now: now
        ) {
            .idle(until: try await sample())
        }
        await loop.run()
    }

    /// Takes the sample that is due.
    ///
    /// - Returns: when the next sample is due.
    @discardableResult
    func sample() async throws -> Date {
        let now = now()
        let due = QuotaHistory.end(of: QuotaHistory.fine, at: now)
        if now.timeIntervalSince(due) <= settings.patience {
            try await history.record(try await channels.quotas(now: now, tenure: settings.tenure), at: due)
        }
        return due.addingTimeInterval(TimeInterval(QuotaHistory.fine))
    }
}
