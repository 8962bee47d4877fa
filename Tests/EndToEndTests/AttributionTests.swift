internal import APNsWire
internal import Foundation
internal import Grandstand
internal import GrandstandApp
internal import GrandstandTestKit
internal import Testing

/// Which key sent or withdrew a broadcast, according to the API and the audit log.
@Suite(.timeLimit(.minutes(2)))
struct AttributionTests {
    private static let update = #"{"event": "update", "contentState": {"n": 1}}"#

    private func caller(_ stage: Stage, _ name: String, app: String? = nil) async throws -> HTTPCaller {
        let (_, secret) = try await stage.server.keys.create(
            name: name, scopes: [.organise, .operate], bundleID: try app.map { try #require(BundleID(rawValue: $0)) })
        return HTTPCaller(url: stage.url, secret: secret)
    }

    @Test func `every kind of broadcast records the key that sent it, and so does a withdrawal`()
        async throws
    {
        try await Stage.with { stage in
            try await stage.putLiveEvent()
            let desk = try await caller(stage, "desk")
            let night = try await caller(stage, "night")
            let made = try await stage.api(
                "POST", "/v1/apps/\(Stage.bundleID)/development/channels", #"{"storagePolicy": "noMessageStored"}"#)
            let channel = try #require(made.json["id"]?.string)
            let later = #"{"event": "update", "contentState": {}, "sendAt": "2099-01-01T00:00:00Z"}"#
            let one = try await desk("POST", "/v1/events/derby/broadcasts", Self.update).json
            let many = try await desk(
                "POST", "/v1/broadcasts",
                #"{"items": [{"eventKey": "derby", "event": "update", "contentState": {"n": 2}}]}"#
            ).json["items"]?.items.first
            let single = try await desk(
                "POST", "/v1/apps/\(Stage.bundleID)/development/channels/\(channel)/broadcasts", Self.update
            ).json
            let scheduled = try await night("POST", "/v1/events/derby/broadcasts", later).json
            #expect([one, many, single].map { $0?["by"]?.string } == ["key:desk", "key:desk", "key:desk"])
            let id = try #require(scheduled["id"]?.string)
            #expect(try await desk("GET", "/v1/broadcasts/\(id)").json["by"]?.string == "key:night")
            #expect(
                try await desk("GET", "/v1/events/derby/broadcasts").json["items"]?.items.map { $0["by"]?.string } == [
                    "key:night", "key:desk", "key:desk",
                ])

            #expect(try await desk("DELETE", "/v1/broadcasts/\(id)").status == 204)
            let accepted = try await desk(
                "GET", "/v1/audit-log?action=broadcast.accepted&actor=key:desk&bundleId=\(Stage.bundleID)")
            #expect(
                accepted.json["items"]?.items.map { $0["broadcast"]?.string } == [
                    single["id"]?.string, many?["id"]?.string, one["id"]?.string,
                ])
            #expect(accepted.json["items"]?.items.first?["channel"]?.string == channel)
            let withdrawn = try await stage.audited("broadcast.withdrawn")
            #expect(withdrawn.map { $0["broadcast"]?.string } == [id])
            #expect(withdrawn.map { $0["actor"]?.string } == ["key:desk"])
        }
    }

    @Test func `a key of one app finds only that app's entries in the audit log`() async throws {
        try await Stage.with { stage in
            try await stage.putLiveEvent()
            try await stage.putApp("com.example.Other")
            try await stage.putEvent("other", [Stage.audience(.production, .noMessageStored, of: "com.example.Other")])
            let own = try await stage.broadcast(Self.update)
            _ = try await stage.broadcast(Self.update, to: "other")
            let bound = try await caller(stage, "bound", app: Stage.bundleID)
            let entries = try await bound("GET", "/v1/audit-log?action=broadcast.accepted").json["items"]?.items
            #expect(entries?.map { $0["broadcast"]?.string } == [own])
            #expect(try await bound("GET", "/v1/audit-log?bundleId=com.example.Other").status == 403)
            let events = try await bound("GET", "/v1/audit-log?action=event.created").json["items"]?.items
            #expect(events?.map { $0["eventKey"]?.string } == ["derby"])
        }
    }
}
