/// When a provider token is issued, renewed, given up (docs/internals/apns.md C15). Seconds, by this machine's clock.
enum TokenSchedule {
    /// Times of issue are rounded down to this, so that replicas that start together claim the same one.
    static let grain = 600
    /// A token is renewed so long after its time of issue: 40 to 50 minutes after its first use, since it is at most
    /// `grain` old by then.
    static let life = 3_000
    /// APNs refuses a token an hour old; a replica that cannot get the shared one goes on with its own until then, a
    /// little less for clocks that differ.
    static let limit = 3_500
    /// A provider that renews sooner gets `TooManyProviderTokenUpdates`.
    static let minimumAge = 1_200

    static func timeOfIssue(_ now: Int) -> Int { now - now % grain }

    static func isDue(issuedAt: Int, now: Int) -> Bool { now >= issuedAt + life }

    /// APNs would take it still.
    static func isUsable(issuedAt: Int, now: Int) -> Bool { now < issuedAt + limit }
}
