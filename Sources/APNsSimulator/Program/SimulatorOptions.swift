internal import APNsWire
package import FoundationEssentials

/// The options of a simulator.
package struct SimulatorOptions: Sendable {
    /// Address or name to listen on.
    package var host = "127.0.0.1"
    /// The development environment's port; production has the next one. 0: two free ports.
    package var port = 0
    /// Folder of the certificate authority and the provider keys; made if it is not there.
    package var directory: String
    /// Named behaviours.
    package var quirks = Quirks()
    /// How management paths treat capitals in a bundle ID: the quirk of that name.
    package var capitals: CapitalsRule {
        get { quirks.capitals }
        set { quirks.capitals = newValue }
    }
    /// Channels of one app in one environment.
    package var channelLimit = APNsLimits.channels
    /// Which teams the keys in `directory` belong to.
    package var teams = KeyTeams()
    /// The scopes of the keys in `directory`, by key ID; a key that is not named has none.
    package var keyScopes: [String: KeyScope] = [:]
    /// A file of faults to begin with.
    package var faultFile: String?
    /// Where apps, channels, messages and devices are kept over restarts; `nil`: nowhere.
    package var stateFile: String?
    /// The port of the control API; 0: a free one; `nil`: there is none.
    package var controlPort: Int?
    /// Where the control API listens. It asks for no password: not for the world.
    package var controlHost = "127.0.0.1"
    /// Requests the journal keeps, the newest ones.
    package var journalCapacity = 5_000
    /// Ids and the tails of channel IDs follow from it.
    package var seed = UInt64.random(in: .min ... .max)
    /// The simulator's clock: tokens, expirations and journal go by it.
    package var now: @Sendable () -> Date = { Date() }

    /// The defaults: free ports on this machine, everything as Apple has it.
    package init(directory: String) { self.directory = directory }

    /// - Throws: for a number out of its range.
    func validate() throws(SimulatorError) {
        guard (0...65_534).contains(port) else {
            throw SimulatorError(
                "Port \(port) cannot be used: choose one from 1 to 65534 (production takes the next), or 0.")
        }
        if let controlPort, !(0...65_535).contains(controlPort) {
            throw SimulatorError("Control port \(controlPort) cannot be used: choose one from 1 to 65535, or 0.")
        }
        guard channelLimit >= 0 else {
            throw SimulatorError("A channel limit of \(channelLimit) makes no sense: choose 0 or more.")
        }
    }
}
