package import FoundationEssentials

/// How much the installations of an app may store in the database. The API key of devices ships in the app, so anybody
/// can extract and use it.
///
/// Bytes are those on disk, indexes included. They are estimated from the length of texts; the trigger
/// `account_for_devices` has the same formulas.
package enum DeviceBounds {
    /// A registration up to this many bytes is never refused for its size. About 15 topics and three tokens of usual
    /// length fit.
    package static let ofRegistration = 3_000
    /// Bytes that all installations of an app may hold together, in addition to `ofRegistration` for each installation.
    /// A person who follows 200 teams takes 25,000 of these bytes.
    package static let shared = 3_000_000
    /// Bytes of one installation's activities: the newest five to eight fit.
    package static let ofActivities = 5_000
    /// The `Retry-After` in seconds when the installations of an app have used all their bytes.
    package static let retry = 3_600

    /// Bytes of an installation's row.
    package static let installation = 400

    package static func bytes(of topic: Topic) -> Int { 110 + 4 * topic.rawValue.utf8.count }

    package static func bytes(of token: DeviceToken, _ attributesType: String) -> Int {
        130 + 4 * attributesType.utf8.count + 3 * token.bytes.count
    }

    /// Bytes of a receipt about this event.
    package static func bytes(ofReceiptFor key: EventKey) -> Int { 200 + 4 * key.rawValue.utf8.count }
}

extension InstallationState {
    /// Bytes that the installation's rows take (`DeviceBounds`).
    package var bytes: Int {
        topics.reduce(DeviceBounds.installation) { $0 + DeviceBounds.bytes(of: $1) }
            + startTokens.reduce(0) { $0 + DeviceBounds.bytes(of: $1.value, $1.key) }
    }
}

/// The totals of an app's installations in one environment.
package struct DeviceAccount: Sendable, Hashable {
    package var installations: Int
    /// Installations that were created in the present hour of the clock; `createdBefore`: in the hour before it.
    package var created: Int
    package var createdBefore: Int
    package var bytes: Int

    package init(installations: Int = 0, created: Int = 0, createdBefore: Int = 0, bytes: Int = 0) {
        self.installations = installations
        self.created = created
        self.createdBefore = createdBefore
        self.bytes = bytes
    }

    /// The most bytes that the app's installations may use together.
    package var limit: Int { DeviceBounds.shared + DeviceBounds.ofRegistration * installations }

    /// Whether many installations are new: at least 1,000 within an hour, and at least a tenth of those known before.
    package var isSurging: Bool {
        [(created, installations - created), (createdBefore, installations - created - createdBefore)].contains {
            new, known in new >= Self.surge && new * 10 >= known
        }
    }

    private static let surge = 1_000

    /// Counts a registration that replaces the installation's earlier state.
    ///
    /// - Parameters:
    ///   - earlier: `nil`: the installation is new.
    ///   - mostNew: the most new installations in an hour; `nil`: any number.
    /// - Throws: `rate-limited`, with the limit. Then the account is not changed.
    package mutating func register(
        _ state: InstallationState, after earlier: InstallationState?, mostNew: Int?, at now: Date
    ) throws(Problem) {
        if earlier == nil, let mostNew, created >= mostNew {
            let hour = 3_600.0
            let wait = Int((hour - now.timeIntervalSince1970.truncatingRemainder(dividingBy: hour)).rounded(.up))
            throw Problem(
                .rateLimited,
                "\(mostNew) installations of this app were created in this hour, which is the limit. Try again in \(wait) s.",
                members: [.limit(mostNew)], retryAfter: wait)
        }
        var account = self
        if earlier == nil {
            account.installations += 1
            account.created += 1
        }
        let (bytes, known) = (state.bytes, earlier?.bytes ?? 0)
        account.bytes += bytes - known
        guard bytes <= max(DeviceBounds.ofRegistration, known) || account.bytes <= account.limit else {
            throw Problem(
                .rateLimited,
                "This registration takes \(bytes) bytes in the database. \(DeviceBounds.ofRegistration) are always accepted; "
                    + "beyond that, the app's installations may use \(DeviceBounds.shared) bytes together, which are used up. "
                    + "Follow fewer topics, or try again later.",
                members: [.limit(DeviceBounds.ofRegistration)], retryAfter: DeviceBounds.retry)
        }
        self = account
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
