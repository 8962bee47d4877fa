internal import APNsSimulator
internal import APNsWire
internal import Foundation
internal import GrandstandClient

/// A phone whose app registers it. The first of the demo's is an old one.
struct DemoPhone: Sendable {
    let id: String
    let systemVersion: String
    let locale: String
    /// Its push-to-start token.
    let token: String
    private let installation = UUID()
    /// Drawn by its app.
    private let secret: String

    /// Of those who read no Spanish, and of those who do.
    static let alerts: [(locale: String, title: String)] = [("en-GB", "Kick-off"), ("es-AR", "¡Empieza!")]

    init(_ number: Int, _ simulator: Simulator) throws {
        id = "follower \(number)"
        systemVersion = number == 0 ? "17.4" : "18.4"
        locale = Self.alerts[number % 2].locale
        let tokens = try simulator.addDevice(
            id, in: .production, system: number == 0 ? 17 : 18, bundleIDs: [DemoMatch.bundleID])
        guard let token = tokens[DemoMatch.bundleID.lowercased()] else { throw DemoFailure("\(id) has no token") }
        self.token = token
        secret = UUID().uuidString + UUID().uuidString
    }

    var alertTitle: String { Self.alerts.first { $0.locale == locale }?.title ?? "" }

    /// A call of its app about itself.
    func send(_ app: GrandstandClient, _ path: String, _ body: [String: Any]) async throws -> GrandstandClient.Answer {
        try await app.send(
            "PUT", "/v1/apps/\(DemoMatch.bundleID)/production/installations/\(installation)\(path)",
            json: try JSONSerialization.data(withJSONObject: body),
            headers: ["Grandstand-Installation-Secret": secret])
    }
}
