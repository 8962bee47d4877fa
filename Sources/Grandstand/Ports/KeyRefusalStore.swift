/// The store in which replicas share which keys APNs refuses.
package protocol KeyRefusalStore: Sendable {
    /// Records that APNs refuses a key; `nil`: that it accepts the key.
    func note(_ refusal: KeyRefusal?, of use: KeyUse) async throws

    /// The current refusals, as the replicas recorded them.
    func refusals() async throws -> [KeyUse: KeyRefusal]
}
