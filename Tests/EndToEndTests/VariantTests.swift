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

    @Test func `after the end of the first variant, list, lookups and batch agree on the next`() async throws {
        try await Stage.with { stage in
            let channels = try await stage.putLiveEvent("derby", Self.audiences())
            let list = "/v1/lookup/\(Stage.bundleID)/development"
            /// What four calls give as the channel: a lookup, a lookup with content, the list and a batch. `query` may
            /// name a variant.
            func told(_ query: String = "") async throws -> [String?] {
                let lookup = try await stage.api("GET", list + "/derby" + query)
                let content = try await stage.api(
                    "GET", list + "/derby" + query + (query.isEmpty ? "?" : "&") + "include=contentState")
                let batch = try await stage.api("POST", list + query, #"{"eventKeys": ["derby"]}"#).json
                return [
                    lookup.json["channelId"]?.string ?? lookup.slug,
                    content.json["channelId"]?.string ?? content.slug,
                    try await stage.api("GET", list + query).json["items"]?[0]?["channelId"]?.string,
                    batch["items"]?[0]?["channelId"]?.string ?? batch["missing"]?[0]?["reason"]?.string,
                ]
            }
            #expect(try await told() == Array(repeating: channels[0], count: 4))
            func end(_ variant: String) async throws {
                let id = try await stage.broadcast(
                    """
                    {"event": "end", "audiences": [
                        {"bundleId": "\(Stage.bundleID)", "environment": "development", "variant": "\(variant)"}]}
                    """)
                _ = try await stage.settled(id)
            }
            try await end("de")
            #expect(try await told() == Array(repeating: channels[1], count: 4))
            let over = ["event-ended", "event-ended", nil, "event-ended"]
            #expect(try await told("?variant=de") == over)
            #expect(
                try await told("?variant=es") == ["variant-not-found", "variant-not-found", nil, "variant-not-found"])
            let unknown = try await stage.api("GET", list + "/derby?variant=es")
            #expect(unknown.json["variants"]?.items.compactMap(\.string) == Self.languages)
            #expect(try await stage.api("GET", list + "/cup?variant=es").slug == "event-not-found")
            try await end("fr")
            try await end("it")
            #expect(try await told() == over)
        }
    }

    @Test
    func `each phone starts on the variant that it names, else on that of its locale, else on none`()
        async throws
    {
        try await Stage.with(options: { $0.controlPort = 0 }) { stage in
            try await stage.putApp()
            let app = try await stage.appsKey()
            let audiences = [nil, "de", "home"].map { variant in
                """
                {"bundleId": "\(Stage.bundleID)", "environment": "production",
                 "storagePolicy": "mostRecentMessageStored"\(variant.map { #", "variant": "\#($0)""# } ?? "")}
                """
            }
            let named = try stage.fan("named") {
                $0.variant = "home"
                $0.locale = "de-DE"
            }
            let german = try stage.fan("german") { $0.locale = "de-AT" }
            let neither = try stage.fan("neither") { $0.locale = "fr-FR" }
            let old = try stage.fan("old", "17.5") { $0.locale = "de-CH" }
            for fan in [named, german, neither, old] { try await fan.register(app) }
            try await stage.putStartingEvent("derby", Stage.startingEvent(audiences))
            let channels = try await stage.activeChannels(of: "derby")
            try await stage.startNow()
            for fan in [named, german, neither, old] { try await stage.shows(fan, #"{"home": 0}"#) }
            let places = [(neither, 0), (german, 1), (named, 2)]
            for (fan, place) in places {
                let push = try #require(stage.devicePushes.first { $0.deviceToken == fan.token })
                #expect(push.json["aps"]?["input-push-channel"]?.string == channels[place], "\(fan.phone)")
            }
            let token = try stage.simulator.allow(activity: 1, on: old.phone)
            try await old.report(app, token: token)

            _ = try await stage.settled(
                try await stage.broadcast(
                    """
                    {"event": "update", "contentState": {"text": "Goal"}, "byVariant": {
                        "de": {"contentState": {"text": "Tor"}}, "home": {"contentState": {"text": "We score"}}}}
                    """))
            try await stage.shows(neither, #"{"text": "Goal"}"#)
            try await stage.shows(german, #"{"text": "Tor"}"#)
            try await stage.shows(named, #"{"text": "We score"}"#)
            // A token belongs to a variant, too.
            try await stage.shows(old, #"{"text": "Tor"}"#)
            for fan in [named, german, neither] { #expect(stage.pushes(to: fan.token) == 1) }
        }
    }

    @Test func `one broadcast reaches three variants' channels, and a changed priority replaces no channel`()
        async throws
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
