internal import Postgres

/// Distributes the process's database connections among its pools.
package struct PoolSizes: Sendable, Hashable {
    /// A pool of connections. Separate pools keep one kind of work from delaying another.
    enum Pool: String, CaseIterable {
        /// Calls, and the loops that look after the database.
        case requests
        /// Claims and settlements of messages and starts.
        case work
        /// Lookups. The pool has few connections, so that connections remain for organisers during a rush of lookups.
        case lookups
        /// Checks of the database, also while all other connections are in use.
        case probe
    }

    /// Callers with a ceiling within their pool. Those of `requests` together have at most half of it, so that neither
    /// phones nor large calls lock organisers out.
    enum Share: String {
        /// Registrations of installations, and reports of activities.
        case devices
        /// Calls with many broadcasts, and requests with an `Idempotency-Key`. They hold a connection until they are
        /// finished.
        case longHeld
        /// Counts of followers and messages, which may take long.
        case reports
        /// Starts, so that the broadcast of a goal does not wait for a million starts.
        case starts
    }

    static let minimum = 8
    static let standard = 44

    private let sizes: [Pool: Int]

    /// - Parameter total: all connections of the process, including those that listen; at least `minimum`.
    init(total: Int = standard) {
        let lookups = max(1, total * 3 / Self.standard)
        // One connection outside the pools listens for notifications.
        let rest = total - 2 - lookups
        let work = max(2, rest * 3 / 10)
        sizes = [.requests: rest - work, .work: work, .lookups: lookups, .probe: 1]
    }

    /// The connections that a pool may use.
    subscript(pool: Pool) -> Int { sizes[pool, default: 1] }

    /// The connections that all shares of `requests` may use together. Two at least: a request that holds one of
    /// `longHeld` may wait for one of `reports`.
    var maxShared: Int { max(2, self[.requests] / 2) }

    subscript(share: Share) -> PostgresShare {
        let most =
            switch share {
            case .devices, .longHeld: self[.requests] / 4
            // More counts at the same time would only load the database.
            case .reports: 2
            case .starts: self[.work] / 3
            }
        return PostgresShare(share.rawValue, most: max(1, most))
    }
}
