package import APNsSimulator
package import APNsWire
internal import Foundation
package import GrandstandClient

/// A simulated phone with one app. The phone registers itself with the server.
package struct Phone: Sendable {
    package let id: String
    /// The phone's push-to-start token.
    package let token: String
    package let locale: String
    private let systemVersion: String
    private let identity: GrandstandClient.InstallationIdentity

    /// Adds the phone to the simulator.
    package init(
        _ id: String, app bundleID: String, in environment: APNsEnvironment, system: String = "18.4",
        locale: String = "en-GB", _ simulator: Simulator
    ) throws {
        let tokens = try simulator.addDevice(
            id, in: environment, system: Int(system.prefix { $0 != "." }) ?? 18, bundleIDs: [bundleID])
        guard let token = tokens[bundleID.lowercased()] else { throw PlayFailure("\(id) has no token") }
        self.id = id
        self.token = token
        self.locale = locale
        systemVersion = system
        identity = .init(new: .init(bundleID, .init(rawValue: environment.rawValue)))
    }

    /// Registers the phone as a follower of topics, as its app would.
    package func follow(_ topics: [String], attributesType: String, _ app: GrandstandClient) async throws {
        try await app.send(
            .putInstallation(
                identity,
                .init(
                    systemVersion: systemVersion, locale: locale,
                    startTokens: [.init(attributesType: attributesType, token: token)], topics: topics)))
    }

    /// Reports an activity on the phone's lock screen, as its app would.
    package func report(
        _ card: ShownActivity, of event: String, updateToken: String? = nil, _ app: GrandstandClient
    ) async throws {
        try await app.send(
            .putActivity(
                "\(card.number)", of: identity,
                .init(
                    eventKey: event, attributesType: card.attributesType, state: .active, updateToken: updateToken)))
    }
}
