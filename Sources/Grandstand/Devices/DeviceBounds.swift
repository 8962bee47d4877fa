package import FoundationEssentials

/// What the installations of an app may make the database hold. The key of devices ships in the app, so strangers have it.
///
/// Bytes are those on disk, indexes included. They are estimated by the length of texts; the trigger `account_for_devices`
/// has the same formulas.
package enum DeviceBounds {
    /// A registration of so many bytes is always accepted: some 15 topics and three tokens of usual length.
    package static let ofRegistration = 3_000
    /// What all installations of an app may hold beyond `ofRegistration` each. Who follows 200 teams takes 25,000 of them.
    package static let shared = 3_000_000
    /// Activities of one installation: the newest five to eight.
    package static let ofActivities = 5_000
    /// Seconds after which an app that holds all that it may is to be asked again.
    package static let retry = 3_600

    /// The row of an installation.
    package static let installation = 400

    package static func bytes(of topic: Topic) -> Int { 110 + 4 * topic.rawValue.utf8.count }

    package static func bytes(of token: DeviceToken, _ attributesType: String) -> Int {
        130 + 4 * attributesType.utf8.count + 3 * token.bytes.count
    }

    /// A receipt of an event.
    package static func bytes(ofReceiptFor key: EventKey) -> Int { 200 + 4 * key.rawValue.utf8.count }
}

extension InstallationState {
    /// What its rows take (`DeviceBounds`).
    package var bytes: Int {
        topics.reduce(DeviceBounds.installation) { $0 + DeviceBounds.bytes(of: $1) }
            + startTokens.reduce(0) { $0 + DeviceBounds.bytes(of: $1.value, $1.key) }
    }
}

/// What the installations of an app in one environment hold together.
package struct DeviceAccount: Sendable, Hashable {
    package var installations: Int
    /// Those that were new in this hour, and in the one before it, of the clock.
    package var created: Int
    package var createdBefore: Int
    package var bytes: Int

    package init(installations: Int = 0, created: Int = 0, createdBefore: Int = 0, bytes: Int = 0) {
        self.installations = installations
        self.created = created
        self.createdBefore = createdBefore
        self.bytes = bytes
    }

    /// What they may hold.
    package var limit: Int { DeviceBounds.shared + DeviceBounds.ofRegistration * installations }

    /// Whether many installations are new: at least 1,000 within an hour, and at least a tenth of those known before.
    package var isSurging: Bool {
        [(created, installations - created), (createdBefore, installations - created - createdBefore)].contains {
            new, known in new >= Self.surge && new * 10 >= known
        }
    }

    private static let surge = 1_000

    /// Takes a registration in, in place of what was known of the installation.
    ///
    /// - Parameters:
    ///   - earlier: `nil`: it is new.
    ///   - mostNew: installations that may be new in an hour; `nil`: any number.
    /// - Throws: `rate-limited`, with the limit; then it is as before.
    package mutating func register(
        _ state: InstallationState, after earlier: InstallationState?, mostNew: Int?, at now: Date
    ) throws(Problem) {
        if earlier == nil, let mostNew, created >= mostNew {
            let hour = 3_600.0
            let wait = Int((hour - now.timeIntervalSince1970.truncatingRemainder(dividingBy: hour)).rounded(.up))
            throw Problem(
                .rateLimited,
                "\(mostNew) installations of this app are new in this hour, as many as may be. Try again in \(wait) s.",
                members: [("limit", .integer(mostNew))], retryAfter: wait)
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
                    + "what the app's installations may hold beyond that, \(DeviceBounds.shared) bytes together, is taken. "
                    + "Follow fewer topics, or try again later.",
                members: [("limit", .integer(DeviceBounds.ofRegistration))], retryAfter: DeviceBounds.retry)
        }
        self = account
    }
}

/// At which rate an installation may bring tokens, for starts and of activities: APNs is asked for each, and each that is made up
/// counts against the app. The times are the database's: a token moves the installation's on by `interval`.
package enum TokenPace {
    /// Tokens at once.
    package static let burst = 30
    /// Seconds in which one more is accepted.
    package static let interval: TimeInterval = 180

    /// The installation's time after it brought tokens.
    ///
    /// - Parameter until: before; `nil`: it brought none yet.
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
                members: [("limit", .integer(Int(3_600 / interval)))], retryAfter: wait)
        }
        return after
    }
}
