internal import APNsSimulator
internal import APNsWire
internal import Foundation
internal import Grandstand
internal import GrandstandTestKit
internal import HTTP2
internal import Testing

@testable internal import GrandstandServer

/// Another system with a key of the same team, such as Apple's own console or an old script. The ledger does not know
/// what this system does.
struct AppleConsole: Sendable {
    private let client: APNsClient
    private let address: APNsAddress

    /// Runs `body` with a console for one app and environment of the simulator.
    static func with<Result>(
        _ simulator: Simulator, _ environment: APNsEnvironment = .development,
        _ body: (AppleConsole) async throws -> Result
    ) async throws -> Result {
        let addresses = try #require(simulator.addresses)
        var hosts: [APNsEnvironment: Endpoint] = [:]
        for environment in APNsEnvironment.allCases {
            hosts[environment] = Endpoint(url: addresses.url(environment))
        }
        var settings = APNsClient.Settings(endpoints: Endpoints(send: hosts, manage: hosts))
        settings.trustRoots = .file(addresses.caFile)
        let keys = KeyRing(directory: (addresses.keyFile as NSString).deletingLastPathComponent)
        let client = APNsClient(settings: settings, keys: keys, now: { Date() }, logger: Stage.logger)
        let address = APNsAddress(
            bundleID: try #require(BundleID(rawValue: Stage.bundleID)), environment: environment,
            credentials: Credentials(teamID: SimulatorIdentity.teamID, keyID: SimulatorIdentity.keyID),
            managementPath: .lowercased)
        return try await ending(with: { await client.close() }) {
            try await body(AppleConsole(client: client, address: address))
        }
    }

    /// Creates a channel; returns its ID.
    @discardableResult
    func create(_ policy: StoragePolicy = .noMessageStored) async throws -> String {
        try Self.value(await client.createChannel(policy, at: address))
    }

    /// Deletes a channel without the ledger's knowledge.
    func delete(_ channelID: String) async throws {
        try Self.value(await client.deleteChannel(channelID, at: address))
    }

    private static func value<Value>(_ answer: APNsAnswer<Value>) throws -> Value {
        guard case .accepted(let value, _) = answer else { throw NeverHappened(what: "accepted; instead: \(answer)") }
        return value
    }
}
