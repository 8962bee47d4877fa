package import APNsWire

/// The dispatchers of this process, for the code that accepts broadcasts.
///
/// The transaction that gives work to lanes can also claim those lanes that may send at once. Then the messages are
/// sent right after the commit, without NOTIFY, without another claim and without a second commit. This is only an
/// optimisation: lanes that are not claimed in this way are due in the database, where every dispatcher finds them.
package protocol DirectSends: Sendable {
    /// A claim for up to `wanted` lanes, as many as may send now; `nil`: none may, or this process has no dispatcher
    /// for the environment.
    func claim(_ wanted: Int, in environment: APNsEnvironment) -> LaneClaim?

    /// Sends the messages of a claim that `claim` returned, after the claim's transaction was committed.
    func send(_ deliveries: [ClaimedDelivery], in environment: APNsEnvironment)
}
