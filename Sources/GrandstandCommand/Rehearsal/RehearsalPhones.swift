internal import APNsSimulator
internal import APNsWire
internal import Foundation
internal import Grandstand
internal import GrandstandApp
internal import GrandstandClient
internal import JSON
internal import MatchDriver

/// Phones that follow the day's topics. Each phone follows one topic; the topics are assigned in turn.
struct RehearsalPhones: Sendable {
    /// The topic that one phone follows.
    private struct Interest: Hashable {
        let app: AppEnvironment
        let topic: String
        let attributesType: String
    }

    let count: Int
    private let interests: [Interest]

    /// - Parameter played: the events. Events without a start or topics need no followers.
    init(_ count: Int, following played: [DeclaredEvent]) {
        let all = played.flatMap { declared in
            declared.apps.flatMap { app in
                declared.event.topics.compactMap { topic in
                    declared.attributesType.map { Interest(app: app, topic: topic, attributesType: $0) }
                }
            }
        }
        interests = Set(all).sorted { Self.name($0) < Self.name($1) }
        self.count = interests.isEmpty ? 0 : count
    }

    private static func name(_ interest: Interest) -> String {
        "\(interest.topic) \(interest.attributesType) \(interest.app.bundleID) \(interest.app.environment.rawValue)"
    }

    /// Registers all phones, several at a time.
    func register(on stage: RehearsalStage) async throws {
        guard count > 0 else { return }
        var apps: [BundleID: GrandstandClient] = [:]
        for bundleID in Set(interests.map(\.app.bundleID)) {
            let key = try await stage.organiser.send(
                .createKey(name: "app", scopes: [.device], bundleId: bundleID.rawValue))
            apps[bundleID] = .once(stage.address, key: key.secret)
        }
        try await forEach(0..<count, atMost: 32) { [apps] number in
            let interest = interests[number % interests.count]
            guard let app = apps[interest.app.bundleID] else { return }
            try await Phone(
                "follower \(number)", app: interest.app.bundleID.rawValue, in: interest.app.environment, stage.simulator
            ).follow([interest.topic], attributesType: interest.attributesType, app)
        }
    }
}
