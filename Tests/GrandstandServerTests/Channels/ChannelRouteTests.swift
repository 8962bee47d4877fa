internal import APNsWire
internal import Foundation
internal import Grandstand
internal import GrandstandContract
internal import GrandstandTestKit
internal import HTTPTypes
internal import Postgres
internal import Testing

@testable internal import GrandstandServer

/// `/v1/apps/{bundleId}/{environment}/channels`.
@Suite(.database)
struct ChannelRouteTests {
    private static let base = "/v1/apps/com.example.Stadium/production/channels"
    private static let one = base + "/\(Sample.id)"
    private static let draft = #"{"storagePolicy": "noMessageStored", "label": "gate 7"}"#

    private static func shape(_ id: Any? = Sample.id.text) -> String {
        #"{"id":"\#(id ?? "")","channelId":"abc==","bundleId":"com.example.Stadium","environment":"production","#
            + #""storagePolicy":"noMessageStored","state":"active","eventKey":null,"label":"gate 7","reason":null,"#
            + #""nextAttemptAt":null,"createdAt":"2026-11-21T20:45:00.000Z","managed":true}"#
    }

    /// A world with one app, and its channel in this state; `nil`: without a channel.
    private static func world(_ state: Channel.State? = .active) async throws -> RouteWorld {
        var world = RouteWorld()
        _ = try await world.rows.apps.put(Sample.app(), by: .server)
        if let state { try await world.putChannel(state) }
        world.gateway = ScriptedGateway(creations: [.giving("abc==")], deletions: [.ok])
        return world
    }

    @Test func `a channel is created and returned completely, or Apple's refusal, or that there was no answer`()
        async throws
    {
        var world = try await Self.world(nil)
        world.gateway = ScriptedGateway(creations: [
            .giving("abc=="), .refusing(.tooManyRequests, retryAfter: 7), .unanswered("no answer"),
            .refusing(.broadcastFeatureNotEnabled),
        ])
        let created = try await world("POST", Self.base, Self.draft)
        #expect(created.status == 201 && created.text == Self.shape(created.json["id"]))
        let waits = try await world("POST", Self.base, Self.draft)
        #expect(waits.status == 502 && waits.headers[.retryAfter] == "7")
        let unanswered = try await world("POST", Self.base, Self.draft)
        #expect(unanswered.status == 504)
        let id = try #require((unanswered.json["id"] as? String).flatMap { UUID(uuidString: $0) })
        let channel = try await world.rows.channels.channel(
            id, of: AppEnvironment(bundleID: Sample.stadium, environment: .production))
        #expect(channel?.state == .creating && channel?.reason == "no answer")
        let refused = try await world("POST", Self.base, Self.draft)
        #expect(refused.status == 502 && refused.slug == "apns-refused")
        #expect((refused.json["apns"] as? [String: Any])?["reason"] as? String == "BroadcastFeatureNotEnabled")
        #expect(refused.detail.contains("Broadcast Capability"))
    }

    @Test func `a list is filtered by its query`() async throws {
        let world = try await Self.world()
        let all = #"{"items":[\#(Self.shape())],"nextCursor":null}"#
        let query = "?state=active&storagePolicy=noMessageStored&channelId=abc%3D%3D&limit=2"
        #expect(try await world("GET", Self.base + query).text == all)
        #expect(try await world("GET", Self.base + "?managed=true").text == all)
        for other in ["state=deleted", "storagePolicy=mostRecentMessageStored", "eventKey=derby", "channelId=x"] {
            #expect(try await world("GET", Self.base + "?" + other).items.isEmpty, "\(other)")
        }
        try await world.rows.open("derby", audiences: [.sample("com.example.Stadium")])
        let ofEvent = try await world("GET", Self.base + "?eventKey=derby&state=active").items
        #expect(ofEvent.map { $0["eventKey"] as? String } == ["derby"])
    }

    @Test func `a channel is shown, and Apple is asked only on request`() async throws {
        var world = try await Self.world()
        #expect(try await world("GET", Self.one).text == Self.shape())
        let none = try await world("GET", Self.base + "/\(Sample.otherID)")
        #expect(none.slug == "channel-not-found")
        #expect(none.detail.contains("not Apple's channelId"))
        world.gateway = ScriptedGateway(readings: [.giving(.noMessageStored), .refusing(.channelNotRegistered)])
        let verified = try await world("GET", Self.one + "?verify=true")
        #expect(
            verified.text
                == Self.shape().dropLast()
                + #","verified":{"exists":true,"storagePolicy":"noMessageStored","at":"2026-11-21T20:45:00.000Z"}}"#)
        let gone = try await world("GET", Self.one + "?verify=true").json["verified"] as? [String: Any]
        #expect(gone?["exists"] as? Bool == false)
        #expect(world.gateway.calls.read == ["abc==", "abc=="])
    }

    @Test func `a deletion is forced only on request`() async throws {
        let world = try await Self.world(nil)
        try await world.rows.open(audiences: [.sample("com.example.Stadium")])
        let id = try #require(try await world("GET", Self.base).items.first?["id"] as? String)
        let elsewhere = Self.base.replacing("production", with: "development")
        #expect(try await world("DELETE", elsewhere + "/\(id)").slug == "channel-not-found")
        for query in ["", "?force=false"] {
            let answer = try await world("DELETE", Self.base + "/\(id)" + query)
            #expect(answer.status == 409 && answer.slug == "channel-in-use")
        }
        let answer = try await world("DELETE", Self.base + "/\(id)?force=true")
        #expect(answer.status == 204 && answer.body.isEmpty)
        #expect(try await world("DELETE", Self.base + "/\(id)").status == 204)
        // A channel without an event is deleted once it exists.
        for (state, status) in [(Channel.State.creating, 409), (.active, 204)] {
            try await world.database.query("delete from channels")
            try await world.putChannel(state)
            #expect(try await world("DELETE", Self.one).status == status)
        }
    }

    private static let refusals: [(APNsAnswer<StoragePolicy>, Problem.Kind)] = [
        (.refusing(.channelNotRegistered), .channelNotFound), (.refusing(.badChannelId), .channelNotFound),
        (.refused(APNsRefusal(status: 404, reason: .badPath)), .channelNotFound),
        (.refused(APNsRefusal(status: 410, reason: APNsReason(rawValue: "NewlyInvented"))), .channelNotFound),
        (.refusing(.serviceUnavailable), .apnsRefused), (.refusing(.topicMismatch), .apnsRefused),
        // Only a 404 means that the channel does not exist.
        (.refused(APNsRefusal(status: 400, reason: .badPath)), .apnsRefused),
        (.unanswered("lost"), .apnsUnanswered), (.unsent("no connection"), .apnsUnanswered),
        (.unsent("no key"), .credentialsMissing),
    ]

    @Test func `a channel is imported with the storage policy that Apple confirms, and else not at all`() async throws {
        var world = try await Self.world(nil)
        let path = Self.base + "/import"
        let body = #"{"channelId": "abc==", "label": "gate 7"}"#
        for (answer, kind) in Self.refusals {
            world.gateway = ScriptedGateway(readings: [answer], key: kind == .credentialsMissing ? .missing : .ok)
            let refused = try await world("POST", path, body)
            #expect(refused.slug == kind.rawValue, "\(answer)")
            if kind == .credentialsMissing { #expect(refused.detail.contains("AuthKey_KEY1234567.p8")) }
        }
        #expect(try await world.rows.rows("channels") == 0)
        world.gateway = ScriptedGateway(readings: [.giving(.noMessageStored)])
        let other = path.replacing("Stadium", with: "Other")
        #expect(try await world("POST", other, body).slug == "app-not-found")
        let imported = try await world("POST", path, body)
        #expect(imported.status == 201 && imported.text == Self.shape(imported.json["id"]))
    }

    @Test func `an interrupted creation is continued, awaited or started again`() async throws {
        let world = try await Self.world(nil)
        let admin = try #require(RouteWorld.keys["gs_admin"])
        let cases: [(Channel.State?, Int, replayed: Bool)] = [
            (.active, 201, true), (.creating, 404, false), (.failed, 201, false), (.deleted, 201, false),
            (nil, 201, false),
        ]
        for (state, status, replayed) in cases {
            try await world.database.query("delete from channels")
            if let state { try await world.putChannel(state) }
            // An earlier process began the request, and noted the channel.
            let name = String(describing: state)
            let begun = IdempotentRequest(
                caller: admin.id, key: name, content: Array("POST \(Self.base)\n\(Self.draft)".utf8),
                at: RouteWorld.now)
            try await world.rows.pool.transaction { try await begun.record(Sample.id, on: $0) }
            let answer = try await world("POST", Self.base, Self.draft, headers: ["Idempotency-Key": name])
            #expect(answer.status == status, "\(name): \(answer.text)")
            #expect((answer.headers[.idempotentReplayed] == "true") == replayed, "\(name)")
            if state == .creating {
                #expect(answer.slug == "channel-pending")
                #expect(answer.headers[.retryAfter] == "2")
            }
        }
    }
}
