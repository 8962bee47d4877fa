internal import Foundation
internal import Grandstand
internal import GrandstandContract
internal import GrandstandTestKit
internal import HTTPTypes
internal import Testing

@testable internal import GrandstandServer

/// `/v1/webhooks`.
@Suite(.database)
struct WebhookRouteTests {
    private static let path = "/v1/webhooks"
    private static let draft = #"{"url": "https://hooks.example.com/x", "topics": ["broadcast.settled"]}"#

    /// The routes, with the stores of webhooks on the same database.
    private static func world() async throws -> (RouteWorld, Hooks) {
        let world = RouteWorld()
        for app in [Sample.stadium, Sample.other] { _ = try await world.rows.apps.put(Sample.app(app), by: .server) }
        return (world, try await Hooks(world.rows))
    }

    @Test func `a webhook is visible to keys that may know everything it reports`() async throws {
        let (world, hooks) = try await Self.world()
        let settled = try await hooks.add([.broadcastSettled]).id
        let cases = [
            (try await hooks.add([.broadcastSettled, .quotaLevel]).id, "gs_organise", 403),
            (settled, "gs_operate", 403), (settled, "gs_stadium", 404), (Sample.id.words, "gs_admin", 404),
            (try await hooks.add([.broadcastSettled], app: Sample.other.rawValue).id, "gs_stadium", 404),
        ]
        for (method, rest, body) in [
            ("GET", "", nil), ("PUT", "", Self.draft), ("DELETE", "", nil), ("POST", "/secret", nil),
            ("POST", "/test", nil), ("GET", "/deliveries", nil), ("GET", "/deliveries/\(Sample.id)", nil),
            ("POST", "/deliveries/\(Sample.id)/replay", nil),
        ] as [(String, String, String?)] {
            for (id, secret, status) in cases {
                let path = Self.path + "/\(id)" + rest
                let answer = try await world(method, path, body, as: secret)
                // A PUT with `gs_operate` is refused already because of the topics in its own body.
                #expect(answer.status == status, "\(method) \(path) \(secret): \(answer.text)")
                #expect(answer.slug == (status == 403 ? "forbidden" : "webhook-not-found"))
            }
        }
        #expect(try await world("GET", Self.path + "/\(settled)").status == 200)
    }

    @Test func `a key may only subscribe to what it may know, and to its own app`() async throws {
        let (world, _) = try await Self.world()
        let quota = #"{"url": "https://example.com/hooks", "topics": ["quota.level"]"#
        let refused = try await world("POST", Self.path, quota + "}", as: "gs_organise")
        #expect(refused.status == 403)
        #expect(refused.detail.contains("needs the scope operate to hear of quota.level"))
        let other = quota + #", "bundleId": "com.example.Other"}"#
        #expect(try await world("POST", Self.path, other, as: "gs_stadium").status == 403)
        let made = try await world("POST", Self.path, Self.draft, as: "gs_stadium")
        #expect(made.status == 201)
        #expect(made.json["bundleId"] as? String == "com.example.Stadium")
    }

    @Test func `the secret is shown only when it is new`() async throws {
        let (world, _) = try await Self.world()
        let made = try await world("POST", Self.path, Self.draft)
        #expect(made.status == 201)
        let id = try #require(made.json["id"] as? String)
        let (secret, key) = (try #require(made.json["secret"] as? String), try #require(RouteWorld.keys["gs_admin"]))
        let shape =
            #"{"id":"\#(id)","url":"https://hooks.example.com/x","description":null,"topics":["broadcast.settled"],"#
            + #""bundleId":null,"bundleIds":null,"declaredBy":"\#(key.id.words)","enabled":true,"reason":null,"#
            + #""failingSince":null,"previousSecretUntil":null,"createdAt":"2026-11-21T20:45:00.000Z","#
            + #""updatedAt":"2026-11-21T20:45:00.000Z""#
        #expect(made.text == shape + #","secret":"\#(secret)"}"#)
        let one = Self.path + "/\(id)"
        let shown = try await world("GET", one)
        #expect(shown.text == shape + "}")
        #expect(try await world("GET", Self.path).text == #"{"items":[\#(shape)}],"nextCursor":null}"#)
        // A change names the version that its writer read, and the old secret signs for a day by default.
        let tag = try #require(shown.headers[.eTag])
        #expect(try await world("PUT", one, Self.draft, headers: ["If-Match": tag]).text == shape + "}")
        let late = try await world("PUT", one, Self.draft, headers: ["If-Match": tag])
        #expect(late.slug == "version-mismatch")
        for (body, end) in [("", "2026-11-22T20:45:00.000Z"), (#"{"overlapSeconds": 60}"#, "2026-11-21T20:46:00.000Z")]
        {
            let rotated = try await world("POST", one + "/secret", body)
            #expect(rotated.json["secret"] as? String != secret)
            #expect(rotated.json["previousSecretUntil"] as? String == end)
        }
    }

    @Test func `a list has the webhooks that its reader may know`() async throws {
        let (world, hooks) = try await Self.world()
        let settled = try await hooks.add([.broadcastSettled]).id
        let quota = try await hooks.add([.quotaLevel]).id
        let both = try await hooks.add([.broadcastSettled, .quotaLevel]).id
        let own = try await hooks.add([.broadcastSettled, .channelMissing], app: Sample.stadium.rawValue).id
        for (secret, ids) in [
            ("gs_organise", [settled, own]), ("gs_operate", [quota]), ("gs_stadium", [own]), ("gs_pair_admin", [own]),
            ("gs_admin", [settled, quota, both, own]),
        ] {
            let list = try await world("GET", Self.path, as: secret)
            #expect(Set(list.items.compactMap { $0["id"] as? String }) == Set(ids), "\(secret)")
        }
        let page = try await world("GET", Self.path + "?limit=3")
        let cursor = try #require(page.json["nextCursor"] as? String)
        #expect(
            try await world("GET", Self.path + "?limit=3&cursor=\(PercentEncoding.encode(cursor))").items.count == 1)
        #expect(try await world("GET", Self.path + "?declaredBy=\(Sample.otherID)").items.isEmpty)
        #expect(try await world("GET", Self.path + "?declaredBy=\(hooks.caller.id)").items.count == 4)
    }

    @Test func `the log of messages is filtered and paged by the query, and each can be posted again`() async throws {
        let (world, hooks) = try await Self.world()
        let log = Self.path + "/\(try await hooks.add([.quotaLevel]).id)/deliveries"
        let test = try await world("POST", log.replacing("/deliveries", with: "/test"))
        #expect(test.status == 202)
        let message = try #require(try await hooks.claim().first)
        try await hooks.settle(message, .answered(status: 410))
        let delivery =
            #"{"id":"\#(message.id.words)","messageId":"\#(message.name)","topic":"webhook.test","state":"failed","#
            + #""attempts":1,"status":410,"reason":"HTTP 410: the receiver wants no more messages","#
            + #""createdAt":"2026-11-21T20:45:00.000Z","nextAttemptAt":null,"settledAt":"2026-11-21T20:45:00.000Z""#
        let failed = try await world("GET", log + "?state=failed&topic=webhook.test&limit=2")
        #expect(failed.text == #"{"items":[\#(delivery)}],"nextCursor":null}"#)
        for query in ["?state=queued", "?topic=quota.level"] {
            #expect(try await world("GET", log + query).items.isEmpty)
        }
        let one = try await world("GET", log + "/\(message.id)")
        #expect(one.text.hasPrefix(delivery + #","message":\#(message.body),"log":[{"attempt":1,"#))
        let again = try await world("POST", log + "/\(message.id)/replay")
        #expect(again.status == 202 && again.json["state"] as? String == "queued")
        let none = try await world("POST", log + "/\(Sample.otherID)/replay")
        #expect(none.slug == "webhook-delivery-not-found")
    }
}
