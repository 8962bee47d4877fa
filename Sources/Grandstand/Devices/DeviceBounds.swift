package import FoundationEssentials

/// Limits of one installation and of the installations of one app. The API key of devices ships in the app, so anybody
/// can extract and use it. The contract limits topics and start tokens.
package enum DeviceBounds {
    /// The most bytes of a registration's or a report's body.
    package static let body = 8_192
    /// The most activities that are kept.
    package static let maxActivities = 8
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
            throw .tooMany(
                "new tokens of this installation: \(tokensAtOnce) at once are accepted, then \(hourly) an hour",
                wait: wait, limit: hourly)
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
        throw .tooMany(
            "new installations of this app: \(mostNew) are accepted in an hour", wait: wait, limit: mostNew)
    }
}

/// The refusals of installations that go beyond a limit, or do not prove who they are.
extension Problem {
    /// The error for a secret other than the one of the first registration.
    package static let wrongInstallationSecret = Problem(
        .wrongInstallationSecret,
        "This installation was registered with another secret. Send the one of its first registration, or register anew "
            + "under another UUID.")

    /// The error for requests beyond a limit.
    ///
    /// - Parameter what: is counted, such as `new installations`.
    package static func tooMany(_ what: String, wait: Int, limit: Int? = nil) -> Problem {
        Problem(.rateLimited, "Too many \(what). Nothing was changed. Try again in \(wait) s.", retryAfter: wait) {
            $0.limit = limit
        }
    }
}
