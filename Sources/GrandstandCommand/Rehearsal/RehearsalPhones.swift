internal import APNsSimulator
internal import APNsWire
internal import Foundation
internal import Grandstand
internal import GrandstandApp
internal import GrandstandClient

/// Phones whose owners follow the day's topics, one each, the topics in turn.
struct RehearsalPhones: Sendable {
    /// The topic that one of them follows.
    private struct Interest: Hashable {
        let app: AppEnvironment
        let topic: String
        let attributesType: String
    }

    let count: Int
    private let interests: [Interest]

    /// - Parameter played: events; those without a start or without topics need no followers.
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

    /// Their apps register them, some at a time.
    func register(on stage: RehearsalStage) async throws {
        guard count > 0 else { return }
        var apps: [BundleID: GrandstandClient] = [:]
        for bundleID in Set(interests.map(\.app.bundleID)) {
            var draft = Draft()
            draft.set("name", "app")
            draft.set("scopes", raw: Array(#"["device"]"#.utf8))
            draft.set("bundleId", bundleID.rawValue)
            let key = try await stage.value("POST", "/v1/keys", json: draft.bytes)
            apps[bundleID] = GrandstandClient(server: stage.address, key: key["secret"]?.string)
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<count {
                if number >= 32 { try await group.next() }
                let interest = interests[number % interests.count]
                guard let app = apps[interest.app.bundleID] else { continue }
                group.addTask {
                    let phone = try RegisteredPhone(
                        "follower \(number)", app: interest.app.bundleID.rawValue, in: interest.app.environment,
                        stage.simulator)
                    let answer = try await phone.follow(
                        [interest.topic], attributesType: interest.attributesType, system: "18.4", locale: "en-GB", app)
                    _ = try ServerAccess.json(of: answer)
                }
            }
            try await group.waitForAll()
        }
    }
}
