internal import APNsWire
internal import Foundation
internal import Grandstand
internal import GrandstandTestKit
internal import Postgres
internal import Testing

@testable internal import GrandstandServer

/// Batches of broadcasts, and broadcasts to channels without an event.
@Suite(.database)
struct BroadcastRouteTests {
    private static let update = #""event": "update", "contentState": {}"#

    @Test func `a batch is answered in order, and a mistake in one item affects only that item`() async throws {
        let world = RouteWorld()
        for key in ["derby", "cup"] {
            try await world.rows.open(
                key, audiences: [.sample("com.example.Stadium", .production, .noMessageStored)])
        }
        let cases: [(item: String, slug: String?, pointer: String?)] = [
            (#"{"eventKey": "derby", "event": "update", "contentState": {"score": 1.50e1}}"#, nil, nil),
            (#"{"eventKey": "nowhere", \#(Self.update)}"#, "event-not-found", nil),
            (#"{"eventKey": "cup", "event": "update", "contentstate": {}}"#, "unknown-field", "/items/2/contentstate"),
            (#"{"eventKey": "not a key", \#(Self.update)}"#, "invalid-request", "/items/3/eventKey"),
            (
                #"{"eventKey": "cup", \#(Self.update), "apnsExpiration": 1}"#, "expiration-not-allowed",
                "/items/4/apnsExpiration"
            ),
            ("7", "invalid-request", nil),
            (#"{"eventKey": "cup", "event": "end", "contentState": {"n": 2}}"#, nil, nil),
            (#"{"eventKey": "cup", \#(Self.update)}"#, "event-ended", nil),
        ]
        let items = cases.map(\.item).joined(separator: ", ")
        let answer = try await world("POST", "/v1/broadcasts", #"{"items": [\#(items)]}"#)
        #expect(answer.status == 202 && answer.items.count == cases.count, "\(answer.text)")
        for (item, (_, slug, pointer)) in zip(answer.items, cases) {
            let problem = item["problem"] as? [String: Any]
            let found = (problem?["type"] as? String)?.split(separator: "/").last.map(String.init)
            #expect(found == slug && (item["id"] is String) == (slug == nil))
            let faults = problem?["errors"] as? [[String: Any]]
            if let pointer { #expect(faults?.first?["pointer"] as? String == pointer) }
        }
        let sent = try await world.rows.claim().map(\.text)
        #expect(sent.count == 2 && sent.contains { $0.contains(#"{"score": 1.50e1}"#) })
    }

    @Test func `a channel without an event takes nothing after its end, and an event's channel takes nothing`()
        async throws
    {
        let world = RouteWorld()
        try await world.rows.open("derby", audiences: [.sample("com.example.Stadium")])
        let app = try AppEnvironment(bundleID: .sample("com.example.Stadium"), environment: .production)
        let owned = try #require(try await world.rows.ledger("c.event_key = 'derby'", of: app).last?.id)
        let own = try await world.rows.adopt(of: "com.example.Stadium")
        func post(_ channel: UUID, _ body: String) async throws -> RouteWorld.Answer {
            let channels = "/v1/apps/com.example.Stadium/production/channels"
            return try await world("POST", "\(channels)/\(channel.words)/broadcasts", "{\(body)}")
        }
        #expect(try await post(owned, Self.update).slug == "channel-in-use")
        for event in ["update", "end"] {
            let answer = try await post(own.id, #""event": "\#(event)", "contentState": {}"#)
            #expect(answer.status == 202 && !(answer.json["eventKey"] is String), "\(answer.text)")
            let sent = try await world.rows.sendOne()
            #expect(sent.message.channelID == own.channelID && sent.text.contains(#""event":"\#(event)""#))
        }
        #expect(try await post(own.id, Self.update).slug == "event-ended")
    }
}
