package import FoundationEssentials
package import Grandstand
package import Logging
internal import ServiceLifecycle
internal import Synchronization

/// Reads the metrics of the whole database. Only one replica at a time reads them: the replica that has the lease. When
/// this replica stops, it gives the lease back. When it dies, another replica gets the lease within `lease` seconds.
///
/// Unknown values are not reported: after a failed reading or a lost lease, the last values are dropped.
package final class GaugeWatch: Service {
    package struct Settings: Sendable {
        /// How long events hold their channels, for the quota's forecast.
        package var tenure: ChannelTenure
        /// Seconds after which another replica may report the values in place of a replica that no longer renews its
        /// lease.
        package var lease: TimeInterval = 15
        /// The time between two readings. Each reading renews the lease, so this time must not exceed a third of the
        /// lease.
        package var interval: Duration = .seconds(5)

        package init(tenure: ChannelTenure) { self.tenure = tenure }
    }

    /// The values, and the time until which this replica may report them.
    package struct Reading: Sendable {
        package var quotas: [Quota]
        package var backlog: Backlog
        package var at: Date
        fileprivate var until: Date
    }

    private let replica = UUID()
    private let channels: any ChannelStore
    private let store: any GaugeStore
    private let settings: Settings
    private let now: @Sendable () -> Date
    private let logger: Logger
    private let reading = Mutex<Reading?>(nil)

    package init(
        channels: any ChannelStore, store: any GaugeStore, settings: Settings, now: @escaping @Sendable () -> Date,
        logger: Logger
    ) {
        self.channels = channels
        self.store = store
        self.settings = settings
        self.now = now
        self.logger = logger
    }

    /// The values that this replica reports; `nil`: another replica reports them, or they are unknown.
    package var current: Reading? {
        let now = now()
        return reading.withLock { reading in reading.flatMap { now < $0.until ? $0 : nil } }
    }

    package func run() async {
        let loop = WorkLoop<Never>(
            .init(pollInterval: settings.interval, retry: settings.interval),
            failure: "the values for the database's metrics could not be read", logger: logger, now: now
        ) {
            try await self.look()
            return .idle()
        }
        await loop.run()
        reading.withLock { $0 = nil }
        let (store, replica) = (store, replica)
        // The resignation runs in a separate task, because the present task may be cancelled. If the database is away,
        // the lease ends by itself.
        await Task { _ = try? await store.resign(replica) }.value
    }

    /// Renews the lease. If this replica has the lease, also reads the values.
    package func look() async throws {
        do {
            guard let until = try await store.lead(replica, for: settings.lease) else {
                return reading.withLock { $0 = nil }
            }
            let now = now()
            let quotas = try await channels.quotas(now: now, tenure: settings.tenure)
            let backlog = try await store.backlog(now: now)
            reading.withLock { $0 = Reading(quotas: quotas, backlog: backlog, at: now, until: until) }
        } catch {
            reading.withLock { $0 = nil }
            throw error
        }
    }
}
