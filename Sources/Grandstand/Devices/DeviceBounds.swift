package import FoundationEssentials

/// Limits of one installation and of the installations of one app. The API key of devices ships in the app, so anybody
/// can extract and use it. The contract limits topics and start tokens.
package enum DeviceBounds {
    /// The most bytes of a registration's or a report's body.
    package static let body = 8_192
    /// The most activities that are kept.
    package static let activities = 8
    /// New tokens for starts and activities that an installation may register at once. Each token causes requests to
    /// APNs. If many tokens are invented, APNs slows down or ends the connections of the app.
    package static let tokensAtOnce = 30
    /// Seconds after which an installation may register one more new token.
    package static let tokenInterval: TimeInterval = 180

    /// The installation's `tokensPacedUntil` after it registered this many new tokens. Each token moves it by
    /// `tokenInterval` into the future. All times are the database's.
    ///
    /// - until: the value before; `nil`: it has registered no token yet.
    /// - Throws: `rate-limited`, with the limit.
    package static func pace(_ tokens: Int, _ until: Date?, at now: Date) throws(Problem) -> Date? {
        guard tokens > 0 else { return until }
        let after = max(until ?? now, now).addingTimeInterval(Double(tokens) * tokenInterval)
        let wait = Int((after.timeIntervalSince(now) - Double(tokensAtOnce) * tokenInterval).rounded(.up))
        guard wait <= 0 else {
            let hourly = Int(3_600 / tokenInterval)
            throw Problem(
                .rateLimited,
                "This installation brought too many tokens that differ from those before: \(tokensAtOnce) at once are "
                    + "accepted, then \(hourly) an hour. Nothing was changed. Try again in \(wait) s.",
                retryAfter: wait
            ) { $0.limit = hourly }
        }
        return after
    }

    /// Refuses a new installation of an app that has many new ones.
    ///
    /// - Parameters:
    ///   - created: the new installations of the present hour.
    ///   - mostNew: the most new installations in an hour; `nil`: any number.
    /// - Throws: `rate-limited`, with the limit.
    package static func requireRoom(created: Int, mostNew: Int?, at now: Date) throws(Problem) {
        guard let mostNew, created >= mostNew else { return }
        let wait = Int((3_600 - now.timeIntervalSince1970.truncatingRemainder(dividingBy: 3_600)).rounded(.up))
        throw Problem(
            .rateLimited,
            "\(mostNew) installations of this app were created in this hour, which is the limit. Try again in "
                + "\(wait) s.",
            retryAfter: wait
        ) { $0.limit = mostNew }
    }
}

/// The refusals of installations that go beyond a limit, or do not prove who they are.
extension Problem {
    /// The error for a secret other than the one of the first registration.
    package static let wrongInstallationSecret = Problem(
        .wrongInstallationSecret,
        "This installation was registered with another secret. Send the one of its first registration, or register anew "
            + "under another UUID.")

    /// The error for requests beyond a limit of their address.
    ///
    /// - Parameter what: is counted, such as `new installations`.
    package static func tooMany(_ what: String, wait: Int) -> Problem {
        Problem(.rateLimited, "Too many \(what) came from this address. Try again in \(wait) s.", retryAfter: wait)
    }
}

/// The totals of an app's installations in one environment.
package struct DeviceAccount: Decodable, Sendable, Hashable {
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
}
