internal import Foundation
internal import GrandstandClient
internal import GrandstandLiveActivities
internal import GrandstandTestKit
internal import PhoneFakes
internal import Testing

/// The app's library against the real server and the simulator, over a network that loses, delays, doubles and reorders
/// requests.
@Suite(.timeLimit(.minutes(20)))
struct PhoneStormTests {
    @Test func `after network faults the server has the phone's last state and each start once`() async throws {
        try await Stage.with(settings: ["GRANDSTAND_INSTALLATION_LIMIT": "100000"]) { stage in
            try await stage.putApp()
            for key in ["derby", "final"] { try await stage.putStartingEvent(key) }
            let client = GrandstandClient.once(
                try #require(URL(string: stage.url)), key: try await stage.appsKey().secret)
            _ = try await concurrently(16) { try await Self.checkPhone(UInt64($0), client) }
        }
    }

    private static func checkPhone(_ seed: UInt64, _ client: GrandstandClient) async throws {
        let phone = Phone()
        defer { phone.discard() }
        let server = HTTPDeviceAPI(client: client, app: .init(Stage.bundleID, .production))
        let (wished, status) = try await FakeNetwork(to: server).storm(phone, seed: seed, steps: 12)

        let condition = await phone.host.condition()
        #expect(Set(condition.activities.map(\.eventKey)) == wished, "seed \(seed)")
        #expect(condition.activities.count == wished.count, "seed \(seed)")
        #expect(!phone.host.channels.contains(nil), "seed \(seed)")
        let known = try await client.send(.getInstallation(phone.store().identity()))
        #expect(known.topics.sorted() == status.topics, "seed \(seed)")
        #expect(condition.facts.systemVersion.hasPrefix(known.systemVersion), "seed \(seed)")
        let endings = condition.facts.tokens.mapValues { String($0.suffix(6)) }
        #expect(known.startTokens.count == endings.count, "seed \(seed)")
        for token in known.startTokens {
            #expect(endings[token.attributesType].map { token.token.hasSuffix($0) } == true, "seed \(seed)")
        }
        let shown = Dictionary(known.activities.map { ($0.activityId, $0) }) { first, _ in first }
        for card in condition.activities {
            #expect(shown[card.id]?.eventKey == card.eventKey, "seed \(seed)")
            #expect(shown[card.id]?.state.rawValue == card.state.rawValue, "seed \(seed)")
            #expect(shown[card.id]?.channelId != nil, "seed \(seed)")
        }
    }
}
