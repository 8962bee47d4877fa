internal import FoundationEssentials
internal import Grandstand
internal import Synchronization

/// Reads the metrics of the whole database. Each replica reads and reports them.
///
/// Unknown values are not reported: after a failed reading, the last values are dropped.
final class GaugeWatch: Sendable {
    struct Reading: Sendable {
        var quotas: [Quota]
        var backlog: Backlog
        var at: Date
    }

    /// Seconds after which values are dropped if the next reading takes longer, because the database hangs.
    private static let lifetime: TimeInterval = 15

    private let channels: ChannelStore
    private let store: GaugeStore
    private let tenure: ChannelTenure
    /// The database's time.
    let now: @Sendable () -> Date
    private let reading = Mutex<Reading?>(nil)

    /// - Parameter tenure: how long events hold their channels, for the quota's forecast.
    init(
        channels: ChannelStore, store: GaugeStore, tenure: ChannelTenure, now: @escaping @Sendable () -> Date
    ) {
        self.channels = channels
        self.store = store
        self.tenure = tenure
        self.now = now
    }

    /// The values of the last reading; `nil`: they are unknown.
    var current: Reading? {
        let now = now()
        return reading.withLock { reading in
            reading.flatMap { now.timeIntervalSince($0.at) < Self.lifetime ? $0 : nil }
        }
    }

    func look() async throws {
        do {
            let now = now()
            let quotas = try await channels.quotas(now: now, tenure: tenure)
            let backlog = try await store.backlog(now: now)
            reading.withLock { $0 = Reading(quotas: quotas, backlog: backlog, at: now) }
        } catch {
            reading.withLock { $0 = nil }
            throw error
        }
    }
}
