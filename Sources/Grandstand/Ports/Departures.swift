package import APNsWire

/// The dispatchers of this process, as the code that accepts broadcasts sees them.
///
/// Lanes that get work and may send at once can be claimed in the very transaction that brings it, and its messages
/// leave with the commit: no NOTIFY, no claim of its own, no second commit. It is an offer, never a duty: whatever is not
/// claimed so is due in the database, where every dispatcher finds it.
package protocol Departures: Sendable {
    /// The claim for as many of `wanted` lanes as may leave now; `nil`: none, or no dispatcher of the environment runs
    /// here.
    func claim(_ wanted: Int, in environment: APNsEnvironment) -> LaneClaim?

    /// Sends the messages taken by such a claim, once that is committed.
    func depart(_ deliveries: [ClaimedDelivery], in environment: APNsEnvironment)
}
