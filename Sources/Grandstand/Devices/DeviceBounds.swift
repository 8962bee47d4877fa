package import FoundationEssentials

/// Limits of one installation. The API key of devices ships in the app, so anybody can extract and use it. The contract
/// limits topics and start tokens.
package enum DeviceBounds {
    /// The most bytes of a registration's or a report's body.
    package static let body = 8_192
    /// The most activities that are kept.
    package static let activities = 8
}

/// The totals of an app's installations in one environment.
package struct DeviceAccount: Sendable, Hashable {
    package var installations: Int
    /// Installations that were created in the present hour of the clock; `createdBefore`: in the hour before it.
    package var created: Int
    package var createdBefore: Int

    package init(installations: Int = 0, created: Int = 0, createdBefore: Int = 0) {
        self.installations = installations
        self.created = created
        self.createdBefore = createdBefore
    }

    /// Whether many installations are new: at least 1,000 within an hour, and at least a tenth of those known before.
    package var isSurging: Bool {
        [(created, installations - created), (createdBefore, installations - created - createdBefore)].contains {
            new, known in new >= Self.surge && new * 10 >= known
        }
    }

    private static let surge = 1_000

    /// Counts a new installation.
    ///
    /// - Parameter mostNew: the most new installations in an hour; `nil`: any number.
    /// - Throws: `rate-limited`, with the limit. Then the account is not changed.
    package mutating func create(mostNew: Int?, at now: Date) throws(Problem) {
        if let mostNew, created >= mostNew {
            let hour = 3_600.0
            let wait = Int((hour - now.timeIntervalSince1970.truncatingRemainder(dividingBy: hour)).rounded(.up))
            throw Problem(
                .rateLimited,
                "\(mostNew) installations of this app were created in this hour, which is the limit. Try again in \(wait) s.",
                members: [.limit(mostNew)], retryAfter: wait)
        }
        installations += 1
        created += 1
    }
}

/// How fast an installation may register new tokens for starts and activities. Each token causes requests to APNs. If
/// many tokens are invented, APNs slows down or ends the connections of the app. All times are the database's. Each
/// token moves the installation's `tokensPacedUntil` by `interval` into the future.
package enum TokenPace {
    /// Tokens that are accepted at once.
    package static let burst = 30
    /// Seconds after which one more token is accepted.
    package static let interval: TimeInterval = 180

    /// The installation's `tokensPacedUntil` after it registered this many new tokens.
    ///
    /// - until: the value before; `nil`: it has registered no token yet.
    /// - Throws: `rate-limited`, with the limit.
    package static func take(_ tokens: Int, _ until: Date?, at now: Date) throws(Problem) -> Date? {
        guard tokens > 0 else { return until }
        let after = max(until ?? now, now).addingTimeInterval(Double(tokens) * interval)
        let wait = Int((after.timeIntervalSince(now) - Double(burst) * interval).rounded(.up))
        guard wait <= 0 else {
            throw Problem(
                .rateLimited,
                "This installation brought too many tokens that differ from those before: \(burst) at once are accepted, then "
                    + "\(Int(3_600 / interval)) an hour. Nothing was changed. Try again in \(wait) s.",
                members: [.limit(Int(3_600 / interval))], retryAfter: wait)
        }
        return after
    }
}
