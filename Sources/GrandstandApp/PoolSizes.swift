/// Distributes the process's database connections among its pools. Each pool has a minimum that is enough for all of
/// its work, but not at once. Further connections are distributed in proportion to the standard sizes.
package struct PoolSizes: Sendable, Hashable {
    /// A pool of connections. Separate pools keep one kind of work from delaying another.
    enum Pool: String, CaseIterable {
        case main
        case lookup
        case outbox
        case bulk
        case dispatch
        case start
        case report
        case device
        case probe

        fileprivate var least: Int {
            switch self {
            case .main: 4
            case .lookup, .outbox, .bulk, .dispatch, .start, .device: 2
            case .report, .probe: 1
            }
        }

        fileprivate var standard: Int {
            switch self {
            case .main: 9
            case .lookup: 3
            // One for each transaction that accepts single broadcasts (`PostgresOutbox.acceptConnections`), and one for
            // scheduled broadcasts.
            case .outbox: 5
            // One claim and one settlement for each environment, renewals of leases, and wake-ups.
            case .bulk, .dispatch: 6
            // One claim for each environment, and settlements, which may wait for each other.
            case .start: 4
            case .report: 2
            case .device: 6
            case .probe: 1
            }
        }

        /// These pools stay small. Counting followers takes long, and more of it at the same time would only load the
        /// database.
        fileprivate var grows: Bool { self != .report && self != .probe }
    }

    /// Connections outside the pools that listen for notifications: one for the loops' signals, one for lookups.
    private static let listeners = 2
    package static let minimum = Pool.allCases.reduce(listeners) { $0 + $1.least }
    package static let standard = Pool.allCases.reduce(listeners) { $0 + $1.standard }

    private let sizes: [Pool: Int]

    /// - Parameter total: all connections of the process, including those that listen; at least `minimum`.
    package init(total: Int = standard) {
        let extra = max(0, total - Self.minimum)
        var sizes = Dictionary(
            uniqueKeysWithValues: Pool.allCases.map { pool in
                let wanted = pool.standard - pool.least
                let isBeyond = total > Self.standard && !pool.grows
                let share = isBeyond ? wanted : wanted * extra / (Self.standard - Self.minimum)
                return (pool, pool.least + share)
            })
        // The remainder of the division.
        sizes[.main, default: 0] += max(0, total - Self.listeners - sizes.values.reduce(0, +))
        self.sizes = sizes
    }

    subscript(pool: Pool) -> Int { sizes[pool, default: pool.least] }

    /// All connections of the process.
    var total: Int { sizes.values.reduce(Self.listeners, +) }
}
