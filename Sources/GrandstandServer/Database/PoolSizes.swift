/// Distributes the process's database connections among its pools. A pool with its minimum of connections can do all of
/// its kinds of work, but not all at the same time. Further connections are distributed in proportion to the standard
/// sizes. If there are too few for all pools, for example on a small managed PostgreSQL, some pools are shared.
package struct PoolSizes: Sendable, Hashable {
    /// A pool of connections. Separate pools keep one kind of work from delaying another.
    enum Pool: String, CaseIterable {
        case main
        /// Lookups. The pool has few connections, so that connections remain for organisers during a rush of lookups.
        case lookup
        /// Accepting single broadcasts.
        case outbox
        /// Calls with many broadcasts, and requests with an `Idempotency-Key`. They hold a connection until they are
        /// finished.
        case bulk
        /// Claims and settlements of broadcasts.
        case dispatch
        /// Claims and settlements of starts, so that the broadcast of a goal does not wait for a million starts.
        case start
        /// Counts of followers and messages, which may take long.
        case report
        /// Registrations of installations, so that neither broadcasts of goals nor organisers wait during a rush of
        /// registrations.
        case device
        /// Checks of the database.
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
            // One connection for each transaction that accepts single broadcasts (`Outbox.acceptConnections`),
            // and one for scheduled broadcasts.
            case .outbox: 5
            // Connections for one claim and one settlement in each environment, for renewals of leases, and for
            // wake-ups.
            case .bulk, .dispatch: 6
            // One connection for a claim in each environment, and two for settlements. A settlement may wait until one
            // of these is free.
            case .start: 4
            case .report: 2
            case .device: 6
            case .probe: 1
            }
        }

        /// Whether the pool may get more connections than its standard size. `report` and `probe` may not: counting
        /// followers takes long, and more counting at the same time would only load the database.
        fileprivate var grows: Bool { self != .report && self != .probe }
    }

    /// Connections outside the pools that listen for notifications: one for the loops' signals, one for lookups.
    private static let listeners = 2
    static let minimum = shared.values.reduce(listeners, +)
    /// The fewest connections with which each pool has its own.
    private static let separate = Pool.allCases.reduce(listeners) { $0 + $1.least }
    static let standard = Pool.allCases.reduce(listeners) { $0 + $1.standard }

    /// The pools that exist if there are few connections, with their smallest sizes. The others use one of these.
    private static let shared: [Pool: Int] = [.main: 2, .lookup: 1, .bulk: 1, .dispatch: 1, .probe: 1]

    private let sizes: [Pool: Int]

    /// - Parameter total: all connections of the process, including those that listen; at least `minimum`.
    init(total: Int = standard) {
        guard total >= Self.separate else {
            var sizes = Self.shared
            // Broadcasts come first.
            let next: [Pool] = [.dispatch, .main, .lookup, .main, .bulk, .dispatch]
            for n in 0..<max(0, total - Self.minimum) { sizes[next[n % next.count], default: 0] += 1 }
            self.sizes = sizes
            return
        }
        let extra = total - Self.separate
        var sizes = Dictionary(
            uniqueKeysWithValues: Pool.allCases.map { pool in
                let wanted = pool.standard - pool.least
                let isBeyond = total > Self.standard && !pool.grows
                let share = isBeyond ? wanted : wanted * extra / (Self.standard - Self.separate)
                return (pool, pool.least + share)
            })
        // `main` also gets the connections that are left over after rounding.
        sizes[.main, default: 0] += max(0, total - Self.listeners - sizes.values.reduce(0, +))
        self.sizes = sizes
    }

    /// The pool whose connections `pool` uses: itself, or with few connections another one. Phones share no connection
    /// with organisers, and sends share none with requests.
    func home(of pool: Pool) -> Pool {
        guard sizes[pool] == nil else { return pool }
        return switch pool {
        case .device: .lookup
        case .start: .dispatch
        case .main, .lookup, .outbox, .bulk, .dispatch, .report, .probe: .main
        }
    }

    /// The connections that `pool` may use.
    subscript(pool: Pool) -> Int { sizes[home(of: pool), default: 1] }

    /// All connections of the process.
    var total: Int { sizes.values.reduce(Self.listeners, +) }
}
