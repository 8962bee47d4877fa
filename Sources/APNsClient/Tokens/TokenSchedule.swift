/// Decides when a provider token is issued, when it is renewed, and when its use ends (docs/internals/apns.md C15). All
/// values are seconds on this machine's clock.
enum TokenSchedule {
    /// The time of issue is rounded down to a multiple of this many seconds, so that replicas that start together
    /// choose the same time.
    static let grain = 600
    /// The age at which a token is renewed. Because a token is at most `grain` old at its first use, it is used for 40
    /// to 50 minutes.
    static let life = 3_000
    /// The age up to which a replica keeps its present token if it cannot get a newer one from the store. APNs refuses
    /// a token after an hour; the difference allows for clocks that differ.
    static let limit = 3_500
    /// The least age for a renewal. If a younger token is replaced, APNs answers `TooManyProviderTokenUpdates`.
    static let minimumAge = 1_200

    static func timeOfIssue(_ now: Int) -> Int { now - now % grain }

    static func isDue(issuedAt: Int, now: Int) -> Bool { now >= issuedAt + life }

    /// Whether APNs still accepts the token.
    static func isUsable(issuedAt: Int, now: Int) -> Bool { now < issuedAt + limit }
}
