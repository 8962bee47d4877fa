package import APNsWire
package import FoundationEssentials

/// The door to Apple. Every call ends within the configured request timeout; none throws: see `APNsAnswer`.
package protocol APNsGateway: Sendable {
    /// Sends one message to everybody who follows the channel.
    func send(_ message: BroadcastMessage, to address: APNsAddress) async -> APNsAnswer<Void>

    /// Creates a channel and returns Apple's ID. Unanswered, a channel may exist that only the list knows.
    func createChannel(
        _ storagePolicy: StoragePolicy, at address: APNsAddress, requestID: UUID
    ) async -> APNsAnswer<String>

    /// Reads a channel's storage policy.
    func readChannel(_ channelID: String, at address: APNsAddress) async -> APNsAnswer<StoragePolicy>

    func deleteChannel(_ channelID: String, at address: APNsAddress, requestID: UUID) async -> APNsAnswer<Void>

    /// Every channel ID of the app in the environment. A list that cannot be read whole is `unanswered`, never short.
    func listChannels(at address: APNsAddress) async -> APNsAnswer<ChannelListing>

    /// Whether the key file can be used, and whether APNs refuses the key: as far as is known, without asking APNs.
    func keyFile(of use: KeyUse) async -> KeyFileState
}

extension APNsGateway {
    /// The state of the key files that sign for an app.
    package func keyFiles(of app: App) async -> [APNsEnvironment: KeyFileState] {
        var states: [APNsEnvironment: KeyFileState] = [:]
        for environment in APNsEnvironment.allCases {
            states[environment] = await keyFile(of: app.keyUse(in: environment))
        }
        return states
    }
}
