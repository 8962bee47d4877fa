internal import APNsSimulator
internal import APNsWire
internal import Foundation
internal import GrandstandClient

/// A phone whose app registers it. The first of the demo's is an old one.
struct DemoPhone: Sendable {
    let systemVersion: String
    let locale: String
    private let phone: RegisteredPhone

    /// Of phones in other languages, and of those in Spanish.
    static let alerts: [(locale: String, title: String)] = [("en-GB", "Kick-off"), ("es-AR", "¡Empieza!")]

    init(_ number: Int, _ simulator: Simulator) throws {
        systemVersion = number == 0 ? "17.4" : "18.4"
        locale = Self.alerts[number % 2].locale
        phone = try RegisteredPhone(
            "follower \(number)", app: DemoMatch.bundleID, in: .production, system: number == 0 ? 17 : 18, simulator)
    }

    var id: String { phone.id }
    var alertTitle: String { Self.alerts.first { $0.locale == locale }?.title ?? "" }

    /// It follows a topic.
    func follow(
        _ topic: String, attributesType: String, _ app: GrandstandClient
    ) async throws -> GrandstandClient.Answer {
        try await phone.follow(
            [topic], attributesType: attributesType, system: systemVersion, locale: locale, app)
    }

    /// A call of its app about itself.
    func send(_ app: GrandstandClient, _ path: String, _ body: [String: Any]) async throws -> GrandstandClient.Answer {
        try await phone.send(app, path, body)
    }
}
