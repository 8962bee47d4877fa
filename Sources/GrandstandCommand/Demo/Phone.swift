internal import APNsSimulator
internal import APNsWire
internal import Foundation
internal import GrandstandClient

/// A simulated phone with one app. The phone registers itself with the server.
struct Phone: Sendable {
    let id: String
    /// The phone's push-to-start token.
    let token: String
    let locale: String
    private let identity: GrandstandClient.InstallationIdentity

    /// Adds the phone to the simulator.
    init(
        _ id: String, app bundleID: String, in environment: APNsEnvironment,
        locale: String = "en-GB", _ simulator: Simulator
    ) throws {
        let device = try simulator.addDevice(
            id, in: environment, bundleIDs: [bundleID])
        guard let token = device.startTokens[bundleID.lowercased()] else { throw PlayFailure("\(id) has no token") }
        self.id = id
        self.token = token
        self.locale = locale
        identity = .init(new: .init(bundleID, .init(rawValue: environment.rawValue)))
    }

    /// Registers the phone as a follower of topics, as its app would.
    func follow(_ topics: [String], attributesType: String, _ app: GrandstandClient) async throws {
        try await app.send(
            .putInstallation(
                identity,
                .init(
                    systemVersion: "18.4", locale: locale,
                    startTokens: [.init(attributesType: attributesType, token: token)], topics: topics)))
    }
}
