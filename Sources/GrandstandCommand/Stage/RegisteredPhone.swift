internal import APNsSimulator
internal import APNsWire
internal import Foundation
internal import GrandstandApp
internal import GrandstandClient

/// A phone of the simulator's with one app, which can register itself with the server.
struct RegisteredPhone: Sendable {
    let id: String
    /// Its push-to-start token.
    let token: String
    private let path: String
    /// Drawn by its app.
    private let secret = UUID().uuidString + UUID().uuidString

    init(
        _ id: String, app bundleID: String, in environment: APNsEnvironment, system: Int = 18, _ simulator: Simulator
    ) throws {
        self.id = id
        let tokens = try simulator.addDevice(id, in: environment, system: system, bundleIDs: [bundleID])
        guard let token = tokens[bundleID.lowercased()] else { throw StartError("\(id) has no token") }
        self.token = token
        path = "/v1/apps/\(bundleID)/\(environment.rawValue)/installations/\(UUID())"
    }

    /// A call of its app about itself.
    func send(_ app: GrandstandClient, _ path: String, _ body: [String: Any]) async throws -> GrandstandClient.Answer {
        try await app.send(
            "PUT", self.path + path, json: try JSONSerialization.data(withJSONObject: body),
            headers: ["Grandstand-Installation-Secret": secret])
    }

    /// Its app registers it as a follower of topics.
    func follow(
        _ topics: [String], attributesType: String, system: String, locale: String, _ app: GrandstandClient
    ) async throws -> GrandstandClient.Answer {
        try await send(
            app, "",
            [
                "systemVersion": system, "locale": locale, "topics": topics,
                "startTokens": [["attributesType": attributesType, "token": token]],
            ])
    }
}
