package import FoundationEssentials

/// Keys in memory, for calls that must not wait for the database: lookups at kick-off.
package protocol KeyMemory: Sendable {
    /// The key of `secret`, when memory vouches for it now: known, valid, and confirmed not too long ago. `nil` does not
    /// mean that it is wrong: `KeyStore.authenticate` decides that.
    func known(_ secret: some StringProtocol) -> APIKey?

    /// A key was made, changed or revoked, here or elsewhere: memory must be read again.
    func changed()

    /// At `moment` the database said that all changes are known.
    func confirmed(at moment: Date)
}
