internal import APNsSimulator
internal import APNsWire
internal import Foundation
internal import Testing

/// Channels that callers create and delete themselves, the quota, and the quirk that Apple refuses capitals in
/// management paths.
@Suite(.timeLimit(.minutes(5)))
struct ChannelTests {
    private static let path = "/v1/apps/\(Stage.bundleID)/development/channels"

    @Test func `a channel is created, listed, verified and deleted at Apple`() async throws {
        try await Stage.with { stage in
            try await stage.putApp()
            let created = try await stage.api(
                "POST", Self.path, #"{"storagePolicy": "mostRecentMessageStored", "label": "gate 7"}"#)
            #expect(created.status == 201)
            let id = try #require(created.json["id"]?.string)
            let channelID = try #require(created.json["channelId"]?.string)
            #expect(UUID(uuidString: id) != nil)
            #expect(created.json["state"]?.string == "active")
            #expect(created.json["storagePolicy"]?.string == "mostRecentMessageStored")
            #expect(created.json["bundleId"]?.string == Stage.bundleID)
            #expect(created.json["label"]?.string == "gate 7")
            #expect(created.json["managed"]?.bool == true)
            #expect(created.json["eventKey"] == nil)
            #expect(stage.simulator.channels(of: Stage.bundleID, in: .development).map(\.id) == [channelID])
            #expect(
                stage.simulator.channels(of: Stage.bundleID, in: .development).map(\.storagePolicy) == [
                    .mostRecentMessageStored
                ])

            let list = try await stage.api("GET", Self.path).json
            #expect(list["items"]?.items.compactMap { $0["id"]?.string } == [id])
            #expect(list.names == ["items", "nextCursor"])
            #expect(try await stage.api("GET", Self.path + "?storagePolicy=noMessageStored").json["items"]?.items == [])
            // The other environment does not have this channel.
            let other = Self.path.replacing("development", with: "production")
            #expect(try await stage.api("GET", other).json["items"]?.items == [])
            #expect(try await stage.api("GET", "\(other)/\(id)").slug == "channel-not-found")

            let verified = try await stage.api("GET", "\(Self.path)/\(id)?verify=true").json["verified"]
            #expect(verified?["exists"]?.bool == true)
            #expect(verified?["storagePolicy"]?.string == "mostRecentMessageStored")
            #expect(verified?["at"]?.string?.hasSuffix("Z") == true)

            #expect(try await stage.api("DELETE", "\(Self.path)/\(id)").status == 204)
            #expect(stage.simulator.channels(of: Stage.bundleID, in: .development).isEmpty)
            // The deletion is repeated, as after a lost answer: it succeeds, and Apple is not asked.
            let asked = stage.simulator.journal().count
            #expect(try await stage.api("DELETE", "\(Self.path)/\(id)").status == 204)
            #expect(stage.simulator.journal().count == asked)
            let gone = try await stage.api("GET", "\(Self.path)/\(id)?verify=true").json
            #expect(gone["state"]?.string == "deleted")
            #expect(gone["verified"]?["exists"]?.bool == false)
        }
    }

    @Test func `at an app's channel limit a creation is refused without a request to Apple`() async throws {
        try await Stage.with { stage in
            try await stage.putApp(channelLimit: 2)
            for _ in 0..<2 {
                #expect(try await stage.api("POST", Self.path, #"{"storagePolicy": "noMessageStored"}"#).status == 201)
            }
            let asked = stage.simulator.journal().count
            let refused = try await stage.api("POST", Self.path, #"{"storagePolicy": "noMessageStored"}"#)
            #expect(refused.status == 409)
            #expect(refused.slug == "quota-exhausted")
            #expect(refused.json["limit"]?.int == 2)
            #expect(refused.json["used"]?.int == 2)
            #expect(refused.json["reserved"]?.int == 0)
            #expect(refused.json["apns"] == nil)
            #expect(stage.simulator.journal().count == asked)

            let quotas = try await stage.api("GET", "/v1/quotas").json["items"]?.items ?? []
            let quota = try #require(quotas.first { $0["environment"]?.string == "development" })
            #expect(quota["limit"]?.int == 2)
            #expect(quota["used"]?.int == 2)
            #expect(quota["available"]?.int == 0)
            #expect(quota["level"]?.string == "critical")
            let other = try #require(quotas.first { $0["environment"]?.string == "production" })
            #expect(other["used"]?.int == 0)
            #expect(other["level"]?.string == "ok")
        }
    }

    @Test func `Apple's refusal for its channel limit is reported as quota-exhausted, with Apple's reason`()
        async throws
    {
        try await Stage.with(options: { $0.channelLimit = 1 }) { stage in
            try await stage.putApp()
            #expect(try await stage.api("POST", Self.path, #"{"storagePolicy": "noMessageStored"}"#).status == 201)
            let refused = try await stage.api("POST", Self.path, #"{"storagePolicy": "noMessageStored"}"#)
            #expect(refused.status == 409)
            #expect(refused.slug == "quota-exhausted")
            #expect(refused.json["apns"]?["status"]?.int == 400)
            #expect(refused.json["apns"]?["reason"]?.string == "CannotCreateChannelConfig")
            #expect(refused.json["used"]?.int == 1)
            #expect(refused.json["reserved"]?.int == 0)
        }
    }

    @Test func `a channel a live event needs is deleted only by force`() async throws {
        try await Stage.with { stage in
            let channelID = try #require(try await stage.putLiveEvent().first)
            let list = try await stage.api("GET", Self.path + "?eventKey=derby").json["items"]
            let id = try #require(list?[0]?["id"]?.string)
            #expect(list?[0]?["channelId"]?.string == channelID)

            let kept = try await stage.api("DELETE", "\(Self.path)/\(id)")
            #expect(kept.status == 409)
            #expect(kept.slug == "channel-in-use")
            #expect(stage.simulator.channels(of: Stage.bundleID, in: .development).map(\.id) == [channelID])
            #expect(try await stage.api("DELETE", "/v1/apps/\(Stage.bundleID)").slug == "app-in-use")

            #expect(try await stage.api("DELETE", "\(Self.path)/\(id)?force=true").status == 204)
            #expect(!stage.simulator.channels(of: Stage.bundleID, in: .development).map(\.id).contains(channelID))
        }
    }

    @Test func `that Apple refuses capitals in management paths is learned once and shown on the app`() async throws {
        try await Stage.with { stage in
            try await stage.putLiveEvent()
            let app = try await stage.api("GET", "/v1/apps/\(Stage.bundleID)").json
            #expect(app["bundleId"]?.string == Stage.bundleID)
            #expect(app["topic"]?.string == "com.example.stadium")
            let quirks = app["quirks"]?.items ?? []
            #expect(quirks.count == 1)
            #expect(quirks.first?["environment"]?.string == "development")
            #expect(quirks.first?["quirk"]?.string == "management-path")
            #expect(quirks.first?["value"]?.string == "lowercased")
            #expect(quirks.first?["evidence"]?.string?.contains("TopicMismatch") == true)

            // From now on management calls are made in lowercase at once; broadcasts keep the registered case.
            stage.simulator.clearJournal()
            try await stage.putEvent("second")
            try await stage.activeChannels(of: "second")
            _ = try await stage.settled(
                try await stage.broadcast(#"{"event": "update", "contentState": {}}"#, to: "second"))
            let requests = stage.simulator.journal().map(\.request)
            #expect(requests.filter(\.isCreation).map(\.path) == ["/1/apps/com.example.stadium/channels"])
            #expect(requests.filter(\.isBroadcast).map(\.path) == ["/4/broadcasts/apps/com.example.Stadium"])
        }
    }

    @Test func `if Apple accepts capitals in management paths, the app has no quirk`() async throws {
        try await Stage.with(options: { $0.capitals = .accepted }) { stage in
            try await stage.putLiveEvent()
            #expect(try await stage.api("GET", "/v1/apps/\(Stage.bundleID)").json["quirks"]?.items == [])
            let creations = stage.simulator.journal().map(\.request).filter(\.isCreation)
            #expect(creations.map(\.path) == ["/1/apps/com.example.Stadium/channels"])
        }
    }

    @Test func `an ended event's channel is deleted once it is kept long enough`() async throws {
        try await Stage.with(settings: ["GRANDSTAND_RETIRE_AFTER": "0"]) { stage in
            try await stage.putLiveEvent()
            _ = try await stage.settled(try await stage.broadcast(#"{"event": "end"}"#))
            let deletion = try await stage.simulator.requests(1) { $0.request.isDeletion && $0.status == 204 }
            #expect(deletion.first?.request.path == "/1/apps/com.example.stadium/channels")
            #expect(stage.simulator.channels(of: Stage.bundleID, in: .development).isEmpty)
        }
    }
}
