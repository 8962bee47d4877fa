package import APNsWire
package import FoundationEssentials
internal import JSON

/// A signing key and the APNs environment that it is used for.
package struct UsedKey: Sendable, Hashable {
    package var credentials: Credentials
    package var environment: APNsEnvironment

    package init(credentials: Credentials, environment: APNsEnvironment) {
        self.credentials = credentials
        self.environment = environment
    }
}

/// A refusal by APNs of the provider tokens of a key.
package struct KeyRefusal: Sendable, Hashable {
    /// Apple's reason of the newest refusal.
    package var reason: APNsReason
    /// The time of the first refusal in a row.
    package var since: Date

    package init(reason: APNsReason, since: Date) {
        self.reason = reason
        self.since = since
    }

    /// The refusal as a sentence for people.
    package func sentence(of credentials: Credentials) -> String {
        "APNs refuses the provider tokens of the key \(credentials.keyID) (team \(credentials.teamID)) since "
            + "\(RFC3339.text(since)): \(reason)"
    }
}

/// Decides whether requests with a key's provider token are sent. After two refusals of the token in a row, requests
/// wait. Then a single probe is sent every few seconds, until APNs accepts a probe. Pure: the result depends only on the
/// answers and the given time.
package struct KeyStanding: Sendable, Equatable {
    /// What a request may do.
    package enum Permission: Sendable, Equatable {
        /// Send the request. While APNs refuses the token, the request shows whether APNs accepts it again.
        case send
        /// Wait this many seconds. Then the next probe may be sent.
        case wait(KeyRefusal, seconds: TimeInterval)
    }

    /// Refusals in a row after which requests wait.
    package static let threshold = 2
    /// Seconds between two probes.
    package static let probeGap: TimeInterval = 3

    /// The refusals in a row: their number, and the newest.
    private var refusalCount = 0
    private var newest: KeyRefusal?
    private var probeAt: Date?

    /// The current refusal; `nil` while requests are sent.
    package var refusal: KeyRefusal? { refusalCount < Self.threshold ? nil : newest }

    package init() {}

    /// Decides what a request that is about to be sent may do.
    package mutating func admit(now: Date) -> Permission {
        guard let refusal else { return .send }
        let wait = probeAt?.timeIntervalSince(now) ?? 0
        // The second condition is false if the clock was set back; the request is then a probe.
        if wait > 0, wait <= Self.probeGap { return .wait(refusal, seconds: wait) }
        probeAt = now.addingTimeInterval(Self.probeGap)
        return .send
    }

    /// Records that APNs refused the token.
    ///
    /// - Returns: whether requests begin to wait because of this refusal.
    package mutating func noteRefusal(_ reason: APNsReason, now: Date) -> Bool {
        refusalCount += 1
        newest = KeyRefusal(reason: reason, since: newest?.since ?? now)
        guard refusalCount == Self.threshold else { return false }
        probeAt = now.addingTimeInterval(Self.probeGap)
        return true
    }
}
