internal import APNsSimulator
internal import APNsWire
internal import Foundation
internal import Grandstand
internal import GrandstandClient
internal import GrandstandLiveActivities
internal import GrandstandTestKit
internal import PhoneFakes
internal import Testing

/// A channel vanishes during a match: what its phones show. `GRANDSTAND_PHONES=1000` gives the numbers in
/// docs/internals/benchmarks.md.
@Suite(.timeLimit(.minutes(20)))
struct HealingTests {
    private static let count = ProcessInfo.processInfo.environment["GRANDSTAND_PHONES"].flatMap { Int($0) } ?? 40
    private static let app = GrandstandClient.AppEnvironment(Stage.bundleID, .development)
    private static let settings = [
        "GRANDSTAND_RECONCILE_INTERVAL": "0", "GRANDSTAND_RECONCILE_GRACE": "0",
        "GRANDSTAND_INSTALLATION_LIMIT": "100000",
    ]

    /// A phone and the app on it.
    private struct Fan: Sendable {
        let phone: Phone
        let app: LiveActivities

        /// The one card that people see; `nil`: none, or several.
        var card: ActivitySnapshot? {
            let cards = phone.host.cards.filter(\.state.isLive)
            return cards.count == 1 && phone.host.secondCards == 0 ? cards.first : nil
        }

        func shows(_ content: String) -> Bool {
            card.flatMap { phone.host.content(of: $0.id) } == Data(content.utf8)
        }
    }

    @Test func `phones whose app opens after the channel was replaced show the score in one activity`()
        async throws
    {
        try await Stage.with(settings: Self.settings, options: { $0.capitals = .accepted }) { stage in
            // Another channel remains. If all channels vanished, the server would only raise the alarm
            // `capability-off`.
            try await stage.putLiveEvent("friendly")
            try await stage.putEvent("derby")
            let lost = try await stage.activeChannels(of: "derby")
            try await Self.goalAccepted(2, stage)
            let key = try #require(try await stage.appsKey().secret)
            let client = GrandstandClient(
                server: try #require(URL(string: stage.url)), key: key, retry: .never)
            let fans = try await Self.each(0..<Self.count) { try await Self.launch($0, client) }
            defer { for fan in fans { fan.phone.discard() } }
            #expect(fans.allSatisfy { $0.shows(#"{"home":2}"#) })

            try await AppleConsole.with(stage.simulator) { try await $0.delete(lost[0]) }
            #expect(try await stage.settled(try await Self.goal(3, stage)).deliveryStates == ["rejected"])
            let channels = try await until("the event has another channel") {
                let channels = try await stage.activeChannels(of: "derby")
                return channels == lost ? nil : channels
            }
            let replaced = ContinuousClock.now
            try await Self.goalAccepted(4, stage)
            // The other people leave the app closed, or are in a tunnel.
            let opened = fans.prefix(fans.count * 95 / 100)
            try await Self.each(opened) { await $0.app.refresh() }
            let took = replaced.duration(to: .now)
            print("phones \(fans.count), opened \(opened.count), all of those show the score after \(took)")
            #expect(opened.allSatisfy { $0.shows(#"{"home":4}"#) })
            #expect(fans.allSatisfy { $0.card != nil })
            let onNew = opened.compactMap { $0.phone.host.starts.last }.count { $0.delivery == .channel(channels[0]) }
            #expect(onNew == opened.count)

            // Opening the app once more changes nothing. Phones whose app is opened after the end show the end.
            try await Self.each(opened.prefix(10)) { await $0.app.refresh() }
            #expect(opened.allSatisfy { $0.shows(#"{"home":4}"#) })
            _ = try await stage.settled(
                try await stage.broadcast(#"{"event": "end", "contentState": {"home":5}}"#))
            let last = fans.suffix(fans.count - opened.count)
            try await Self.each(last) { await $0.app.refresh() }
            for fan in last {
                let cards = fan.phone.host.cards
                #expect(cards.map(\.state) == [.ended])
                #expect(cards.first.flatMap { fan.phone.host.content(of: $0.id) } == Data(#"{"home":5}"#.utf8))
            }
            for fan in fans { await fan.app.stop() }
        }
    }

    private static func goal(_ home: Int, _ stage: Stage) async throws -> String {
        try await stage.broadcast(#"{"event": "update", "contentState": {"home":\#(home)}}"#)
    }

    private static func goalAccepted(_ home: Int, _ stage: Stage) async throws {
        #expect(try await stage.settled(try await goal(home, stage)).deliveryStates == ["accepted"])
    }

    /// Two of three people start the card in the app; a push starts the third person's card.
    private static func launch(_ number: Int, _ client: GrandstandClient) async throws -> Fan {
        let phone = Phone()
        if number.isMultiple(of: 3) {
            phone.host.change {
                $0.activities = [
                    ActivitySnapshot(
                        id: "pushed", attributesType: "MatchAttributes", eventKey: "derby", state: .active)
                ]
            }
            phone.host.show(Data(#"{"home":2}"#.utf8), on: "pushed")
        }
        let app = LiveActivities(
            host: phone.host, server: GrandstandServer(client: client, app: app),
            store: RecordStore(file: phone.record),
            credentials: FileCredentials(file: phone.keychain), time: phone.time)
        await app.start()
        if !number.isMultiple(of: 3) {
            let result = try await app.show(Phone.match())
            #expect(result == .shown("card-1"))
        }
        return Fan(phone: phone, app: app)
    }

    /// Runs `body` for all items, sixteen at a time. The results are in no particular order.
    @discardableResult
    private static func each<Item: Sendable, Result: Sendable>(
        _ items: some Sequence<Item>, _ body: @escaping @Sendable (Item) async throws -> Result
    ) async throws -> [Result] {
        try await withThrowingTaskGroup(of: Result.self) { group in
            var results: [Result] = []
            for (place, item) in items.enumerated() {
                if place >= 16, let result = try await group.next() { results.append(result) }
                group.addTask { try await body(item) }
            }
            for try await result in group { results.append(result) }
            return results
        }
    }
}
