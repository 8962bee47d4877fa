internal import APNsSimulator
internal import APNsWire
internal import Foundation
internal import Testing

/// One match in three languages.
@Suite(.timeLimit(.minutes(5)))
struct VariantTests {
    private static let languages = ["de", "fr", "it"]

    private static func audiences(_ priority: String = "") -> [String] {
        languages.map { language in
            let more = language == "fr" ? priority : ""
            return """
                {"bundleId": "\(Stage.bundleID)", "environment": "development", "storagePolicy": "noMessageStored",
                 "variant": "\(language)"\(more)}
                """
        }
    }

    @Test func `one broadcast, three channels, three lookups; another priority of one touches no channel`() async throws
    {
        try await Stage.with { stage in
            let channels = try await stage.putLiveEvent("derby", Self.audiences())
            #expect(Set(channels).count == 3)
            let lookup = "/v1/lookup/\(Stage.bundleID)/development/derby"
            for (language, channelID) in zip(Self.languages, channels) {
                let answer = try await stage.api("GET", lookup + "?variant=\(language)")
                #expect(answer.json["channelId"]?.string == channelID)
                #expect(answer.json["variant"]?.string == language)
                let tag = try #require(answer.headers["etag"])
                let path = lookup + "?variant=\(language)"
                #expect(try await stage.api("GET", path, headers: ["If-None-Match": tag]).status == 304)
            }
            #expect(try await stage.api("GET", lookup).json["channelId"]?.string == channels[0])
            #expect(try await stage.api("GET", lookup + "?variant=es").status == 404)

            let id = try await stage.broadcast(
                """
                {"event": "update", "contentState": {"text": "Goal"}, "byVariant": {
                    "de": {"contentState": {"text": "Tor"}, "alert": {"title": "Tor!"}}, "fr": {"contentState": {"text": "But"}}}}
                """)
            let broadcast = try await stage.settled(id)
            #expect(broadcast.deliveryStates == ["accepted", "accepted", "accepted"])
            #expect(broadcast["deliveries"]?.items.compactMap { $0["variant"]?.string } == Self.languages)
            let texts = ["Tor", "But", "Goal"]
            for request in try await stage.sent(3) {
                let place = try #require(channels.firstIndex { request[header: "apns-channel-id"] == $0 })
                #expect(request.json["aps"]?["content-state"]?["text"]?.string == texts[place])
                #expect((request.json["aps"]?["alert"] != nil) == (place == 0))
                #expect(request[header: "apns-priority"] == (place == 0 ? "10" : "5"))
            }
            for (language, text) in zip(Self.languages, texts) {
                let answer = try await stage.api("GET", lookup + "?variant=\(language)&include=contentState")
                #expect(answer.json["contentState"]?["text"]?.string == text)
            }
            let refused = try await stage.api(
                "POST", "/v1/events/derby/broadcasts",
                #"{"event": "update", "contentState": {}, "byVariant": {"es": {"contentState": {}}}}"#)
            #expect((refused.status, refused.pointers) == (422, ["/byVariant/es"]))
            #expect(refused.text.contains("it has de, fr, it"), "\(refused.text)")

            let calls = stage.simulator.journal().count { $0.request.isCreation || $0.request.isDeletion }
            #expect(calls == 3)
            let changed = try await stage.putEvent("derby", Self.audiences(#", "priority": 1"#))
            #expect(
                changed.json["audiences"]?.items.map { $0["channel"]?["state"]?.string } == [
                    "active", "active", "active",
                ])
            #expect(try await stage.activeChannels(of: "derby") == channels)
            let next = try await stage.broadcast(#"{"event": "update", "contentState": {"text": "2:0"}}"#)
            #expect(
                try await stage.settled(next)["deliveries"]?.items.compactMap { $0["priority"]?.int } == [5, 1, 5])
            #expect(stage.simulator.journal().count { $0.request.isCreation || $0.request.isDeletion } == calls)
            #expect(try await stage.quota()["used"]?.int == 3)
        }
    }
}
