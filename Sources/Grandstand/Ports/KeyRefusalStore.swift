/// The store in which replicas tell each other which keys APNs refuses.
package protocol KeyRefusalStore: Sendable {
    /// Notes that APNs refuses a key; `nil`: that it accepts it.
    func note(_ refusal: KeyRefusal?, of use: KeyUse) async throws

    /// The refusals that stand, as the replicas noted them.
    func refusals() async throws -> [KeyUse: KeyRefusal]
}
