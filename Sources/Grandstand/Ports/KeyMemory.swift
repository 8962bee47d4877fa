package import FoundationEssentials

/// API keys in memory, for calls that must not wait for the database, such as lookups at kick-off.
package protocol KeyMemory: Sendable {
    /// The key with this secret, if memory may be trusted now: the key is known, valid and recently confirmed. `nil`
    /// does not mean that the secret is wrong: `KeyStore.authenticate` decides that.
    func known(_ secret: some StringProtocol) -> APIKey?

    /// A key was created, changed or revoked, here or on another replica, so the keys must be read from the database
    /// again.
    func changed()

    /// At `moment` the database confirmed that memory has all changes.
    func confirmed(at moment: Date)
}
