/// The provider that the simulator creates for itself.
package enum SimulatorIdentity {
    /// The ID of the simulator's own key: the `kid` of its tokens.
    package static let keyID = "SIMULATOR1"
    /// The simulator's own team: the `iss` of its tokens.
    package static let teamID = "SIMULATOR1"
}
