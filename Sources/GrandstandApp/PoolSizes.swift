/// How the connections that a process may have to the database are shared among its pools. Each pool has some at least, with which
/// all of its work is done, if not at once; what is more is given in the proportion of the standard.
package struct PoolSizes: Sendable, Hashable {
    /// A pool of connections that keep one kind of work apart from the others.
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
            // A transaction in each place for single broadcasts, and one for scheduled ones.
            case .outbox: 5
            // A claim and a settlement for each environment, leases, and wake-ups.
            case .bulk, .dispatch: 6
            // A claim for each environment, and settlements, which may wait for each other.
            case .start: 4
            case .report: 2
            case .device: 6
            case .probe: 1
            }
        }

        /// Counting followers may take long; what it is asked for does not wait for a place, so more would only load the database.
        fileprivate var grows: Bool { self != .report && self != .probe }
    }

    /// Connections that listen, in no pool: one for the loops' signals, one for lookups.
    private static let listeners = 2
    package static let minimum = Pool.allCases.reduce(listeners) { $0 + $1.least }
    package static let standard = Pool.allCases.reduce(listeners) { $0 + $1.standard }

    private let sizes: [Pool: Int]

    /// - Parameter total: of the process, those included that listen; `minimum` at least.
    package init(total: Int = standard) {
        let extra = max(0, total - Self.minimum)
        var sizes = Dictionary(
            uniqueKeysWithValues: Pool.allCases.map { pool in
                let wanted = pool.standard - pool.least
                let isBeyond = total > Self.standard && !pool.grows
                let share = isBeyond ? wanted : wanted * extra / (Self.standard - Self.minimum)
                return (pool, pool.least + share)
            })
        // What the division left over.
        sizes[.main, default: 0] += max(0, total - Self.listeners - sizes.values.reduce(0, +))
        self.sizes = sizes
    }

    subscript(pool: Pool) -> Int { sizes[pool, default: pool.least] }

    /// All of the process.
    var total: Int { sizes.values.reduce(Self.listeners, +) }
}
