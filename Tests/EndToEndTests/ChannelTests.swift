internal import APNsSimulator
internal import APNsWire
internal import Foundation
internal import Testing

/// Channels that callers create and delete themselves, and those that the server deletes.
@Suite(.sharedStage, .timeLimit(.minutes(20)))
struct ChannelTests {
    @Test func `a channel is created, listed, verified and deleted at Apple`() async throws {
        let stage = try await Stage.own()
        try await stage.putApp()
        let path = "/v1/apps/\(stage.bundleID)/development/channels"
        let created = try await stage.api(
            "POST", path, #"{"storagePolicy": "mostRecentMessageStored", "label": "gate 7"}"#)
        #expect(created.status == 201)
        let id = try #require(created.json["id"]?.string)
        let channelID = try #require(created.json["channelId"]?.string)
        #expect(stage.atApple().map(\.id) == [channelID])
        #expect(stage.atApple().map(\.storagePolicy) == [.mostRecentMessageStored])

        let list = try await stage.api("GET", path).json
        #expect(list["items"]?.items.compactMap { $0["id"]?.string } == [id])
        // The other environment does not have this channel.
        let other = path.replacing("development", with: "production")
        #expect(try await stage.api("GET", other).json["items"]?.items == [])
        #expect(try await stage.api("GET", "\(other)/\(id)").slug == "channel-not-found")

        let verified = try await stage.api("GET", "\(path)/\(id)?verify=true").json["verified"]
        #expect(verified?["exists"]?.bool == true)

        #expect(try await stage.api("DELETE", "\(path)/\(id)").status == 204)
        #expect(stage.atApple().isEmpty)
        // The deletion is repeated, as after a lost answer: it succeeds, and Apple is not asked.
        let asked = stage.journal.count
        #expect(try await stage.api("DELETE", "\(path)/\(id)").status == 204)
        #expect(stage.journal.count == asked)
        let gone = try await stage.api("GET", "\(path)/\(id)?verify=true").json
        #expect(gone["state"]?.string == "deleted")
        #expect(gone["verified"]?["exists"]?.bool == false)
    }

    @Test func `an ended event's channel is deleted once it is kept long enough`() async throws {
        try await Stage.with(settings: ["GRANDSTAND_RETIRE_AFTER": "0"]) { stage in
            try await stage.putLiveEvent()
            _ = try await stage.settled(try await stage.broadcast(#"{"event": "end"}"#))
            let deletion = try await stage.simulator.requests(1) { $0.request.isDeletion && $0.status == 204 }
            #expect(deletion.first?.request.path == "/1/apps/com.example.stadium/channels")
            #expect(stage.atApple().isEmpty)
        }
    }
}
