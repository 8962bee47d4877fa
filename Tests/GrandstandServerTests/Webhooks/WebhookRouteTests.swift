internal import Foundation
internal import Grandstand
internal import HTTPTypes
internal import Testing

@testable internal import GrandstandServer

/// `/v1/webhooks`.
struct WebhookRouteTests {
    private static let path = "/v1/webhooks"
    private static let one = path + "/11111111-2222-4333-8444-555555555555"
    private static let draft = #"{"url": "https://hooks.example.com/x", "topics": ["broadcast.settled"]}"#
    private static let secret = Sample.known(
        WebhookSecret(rawValue: "whsec_MTIzNDU2Nzg5MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTI="))
    /// A webhook as JSON. The last brace is missing, because the answer for a new webhook continues with its secret.
    private static let shape =
        #"{"id":"11111111-2222-4333-8444-555555555555","url":"https://hooks.example.com/x","description":null,"#
        + #""topics":["broadcast.settled"],"bundleId":null,"bundleIds":null,"declaredBy":null,"enabled":true,"reason":null,"failingSince":null,"#
        + #""previousSecretUntil":null,"createdAt":"2026-11-21T20:45:00.000Z","updatedAt":"2026-11-21T20:45:00.000Z""#

    private static func world(_ webhook: Webhook = Sample.webhook()) -> RouteWorld {
        var world = RouteWorld()
        world.webhooks.find = { $0 == Sample.id ? webhook : nil }
        return world
    }

    private static func body(_ url: String, _ more: String = #""topics": ["quota.level"]"#) -> String {
        #"{"url": "\#(url)", \#(more)}"#
    }

    private static let https = "https://example.com/hooks"

    @Test(
        arguments: [
            ("GET", "", nil), ("PUT", "", draft), ("DELETE", "", nil), ("POST", "/secret", nil), ("POST", "/test", nil),
            ("GET", "/deliveries", nil), ("GET", "/deliveries/\(Sample.id)", nil),
            ("POST", "/deliveries/\(Sample.id)/replay", nil),
        ] as [(String, String, String?)])
    func `a webhook is visible to keys that may know everything it reports`(
        method: String, rest: String, body: String?
    ) async throws {
        let body = body.map { Array($0.utf8) }
        let none = try await Self.world()(method, Self.path + "/\(Sample.otherID)" + rest, body)
        #expect(none.status == 404)
        #expect(none.slug == "webhook-not-found")
        let cases: [(Webhook, String, Int)] = [
            (Sample.webhook([.broadcastSettled, .quotaLevel]), "gs_organise", 403),
            (Sample.webhook([.broadcastSettled]), "gs_operate", 403),
            (Sample.webhook([.broadcastSettled], of: Sample.other), "gs_stadium", 404),
            (Sample.webhook([.broadcastSettled]), "gs_stadium", 404),
        ]
        for (webhook, secret, status) in cases {
            let answer = try await Self.world(webhook)(method, Self.one + rest, body, as: secret)
            // A PUT with `gs_operate` is refused already because of the topics in its own body.
            #expect(answer.status == status, "\(secret): \(answer.text)")
            #expect(answer.slug == (status == 403 ? "forbidden" : "webhook-not-found"))
        }
    }

    @Test func `a key may only subscribe to what it may know, and to its own app`() async throws {
        var world = RouteWorld()
        let refused = try await world("POST", Self.path, Self.body(Self.https), as: "gs_organise")
        #expect(refused.status == 403)
        #expect(refused.detail.contains("needs the scope operate to hear of quota.level"))
        let other = Self.body(Self.https, #""topics": ["quota.level"], "bundleId": "com.example.Other""#)
        #expect(try await world("POST", Self.path, other, as: "gs_stadium").status == 403)
        world.webhooks.make = { draft in
            guard draft.reach == .only([Sample.stadium]) else { throw Unasked() }
            return (Sample.webhook(), Self.secret)
        }
        #expect(try await world("POST", Self.path, Self.draft, as: "gs_stadium").status == 201)
    }

    @Test func `the secret is shown only when it is new`() async throws {
        var world = Self.world()
        world.webhooks.make = { draft in
            guard draft == Sample.webhook().draft else { throw Unasked() }
            return (Sample.webhook(), Self.secret)
        }
        world.webhooks.list = { _, _ in Page(items: [Sample.webhook()], nextCursor: "next") }
        let made = try await world("POST", Self.path, Self.draft)
        #expect(made.status == 201)
        #expect(made.text == Self.shape + #","secret":"\#(Self.secret.rawValue)"}"#)
        let shown = try await world("GET", Self.one)
        #expect(shown.text == Self.shape + "}")
        #expect(shown.headers[.eTag] == #""5""#)
        #expect(try await world("GET", Self.path).text == #"{"items":[\#(Self.shape)}],"nextCursor":"next"}"#)
        // A change names the version that its writer read, and the old secret signs for a day by default.
        world.webhooks.save = { _, _, condition in condition == .versions([5]) ? Sample.webhook() : nil }
        let changed = try await world("PUT", Self.one, Self.draft, headers: ["If-Match": #""5""#])
        #expect(changed.text == Self.shape + "}")
        for (body, overlap) in [("", 86_400), (#"{"overlapSeconds": 60}"#, 60)] as [(String, TimeInterval)] {
            world.webhooks.rotate = { _, asked in asked == overlap ? (Sample.webhook(), Self.secret) : nil }
            let rotated = try await world("POST", Self.one + "/secret", body)
            #expect(rotated.json["secret"] as? String == Self.secret.rawValue)
        }
    }

    private static func topics(for scope: APIKey.Scope) -> Set<WebhookTopic> {
        Set(WebhookTopic.allCases.filter { $0.scopes.contains(scope) })
    }

    @Test(
        arguments: [
            ("gs_organise", topics(for: .organise), .all), ("gs_operate", topics(for: .operate), .all),
            ("gs_pair_admin", Set(WebhookTopic.allCases), .only([Sample.stadium, Sample.other])),
        ] as [(String, Set<WebhookTopic>, AppReach)])
    func `a list has the webhooks that its reader may know`(
        secret: String, topics: Set<WebhookTopic>, reach: AppReach
    ) async throws {
        var world = RouteWorld()
        world.webhooks.list = { filter, page in
            guard filter == WebhookFilter(topics: topics, within: reach, declaredBy: Sample.otherID),
                page == PageRequest(limit: 2, cursor: "c")
            else { throw Unasked() }
            return Page(items: [], nextCursor: nil)
        }
        let query = "?limit=2&cursor=c&declaredBy=\(Sample.otherID)"
        #expect(try await world("GET", Self.path + query, as: secret).status == 200)
    }

    @Test func `a webhook's deletion passes on the key's reach, for the transaction to check`() async throws {
        var world = Self.world(Sample.webhook(of: Sample.stadium))
        world.webhooks.remove = { _, bounds in
            guard bounds == WebhookFilter(within: .only([Sample.stadium])) else { throw Unasked() }
            return true
        }
        #expect(try await world("DELETE", Self.one, as: "gs_stadium").status == 204)
    }

    @Test func `a test is queued, and a webhook deleted meanwhile is not found`() async throws {
        var world = Self.world()
        world.webhooks.post = { $0 == Sample.id ? Sample.delivery : nil }
        let test = try await world("POST", Self.one + "/test")
        #expect(test.status == 202)
        #expect(test.json["messageId"] as? String == "msg_11111111-2222-4333-8444-555555555555")
        world.webhooks.post = { _ in nil }
        world.webhooks.remove = { _, _ in false }
        world.webhooks.rotate = { _, _ in nil }
        world.webhooks.save = { _, _, _ in nil }
        for (method, rest, body) in [
            ("POST", "/test", nil), ("DELETE", "", nil), ("POST", "/secret", nil), ("PUT", "", Self.draft),
        ] as [(String, String, String?)] {
            let answer = try await world(method, Self.one + rest, body.map { Array($0.utf8) })
            #expect(answer.slug == "webhook-not-found", "\(method) \(rest)")
        }
    }

    // MARK: Deliveries

    private static let log = one + "/deliveries"
    /// A delivery as JSON. The last brace is missing, because the answer for a single delivery continues with its log.
    private static let delivery =
        #"{"id":"11111111-2222-4333-8444-555555555555","messageId":"msg_11111111-2222-4333-8444-555555555555","#
        + #""topic":"broadcast.settled","state":"failed","attempts":2,"status":500,"reason":"HTTP 500","#
        + #""createdAt":"2026-11-21T20:45:00.000Z","nextAttemptAt":null,"settledAt":"2026-11-21T20:45:00.000Z""#

    @Test func `the log is filtered and paged by the query`() async throws {
        var world = Self.world()
        world.webhooks.log = { webhook, filter, page in
            guard webhook == Sample.id, filter == WebhookDeliveryFilter(state: .failed, topic: .broadcastSettled),
                page == PageRequest(limit: 2, cursor: "c")
            else { throw Unasked() }
            return Page(items: [Sample.delivery], nextCursor: "d")
        }
        let answer = try await world("GET", Self.log + "?state=failed&topic=broadcast.settled&limit=2&cursor=c")
        #expect(answer.text == #"{"items":[\#(Self.delivery)}],"nextCursor":"d"}"#)
    }

    @Test func `a delivery can be posted again, if it exists`() async throws {
        var world = Self.world()
        world.webhooks.again = { id, webhook in id == Sample.id && webhook == Sample.id ? Sample.delivery : nil }
        let answer = try await world("POST", (Self.log + "/\(Sample.id)") + "/replay")
        #expect(answer.status == 202)
        #expect(answer.text == Self.delivery + "}")
        let none = try await world("POST", Self.log + "/\(Sample.otherID)/replay")
        #expect(none.slug == "webhook-delivery-not-found")
    }
}
