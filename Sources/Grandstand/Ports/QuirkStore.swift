/// The quirks of APNs for each app and environment, shared by all replicas.
package protocol QuirkStore: Sendable {
    /// Stores a value in place of an earlier one. If the same value is learned twice, the first evidence stays.
    ///
    /// `broadcast-feature` with the value `off` is the alarm that an app's Broadcast capability is off. The value `on`
    /// ends the alarm. Creations that were refused because the capability was off are then due at once.
    func remember(_ quirk: Quirk, for app: AppEnvironment) async throws
}
