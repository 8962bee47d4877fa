internal import Foundation
internal import Grandstand
internal import GrandstandTestKit
internal import HTTPTypes
internal import PortFakes
internal import Testing

@testable internal import GrandstandHTTP

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

    static let refusals: [Refusal] = [
        .init("nothing", "POST", path, "{}", pointers: ["/url", "/topics"]),
        .init("no URL", "POST", path, body("example.com"), pointers: ["/url"]),
        .init("another scheme", "POST", path, body("ftp://example.com/"), pointers: ["/url"]),
        .init(
            "in the clear", "POST", path, body("http://example.com/"), pointers: ["/url"],
            hint: "GRANDSTAND_WEBHOOK_HTTP"),
        .init("a user name", "POST", path, body("https://a@example.com/"), pointers: ["/url"]),
        .init(
            "a private address", "POST", path, body("https://10.0.0.1/"), pointers: ["/url"],
            hint: "GRANDSTAND_WEBHOOK_NETWORKS"),
        .init("a mapped address", "POST", path, body("https://[::ffff:10.0.0.1]/"), pointers: ["/url"]),
        .init("the cloud's own", "PUT", one, body("https://169.254.169.254/"), pointers: ["/url"]),
        .init("no topics", "POST", path, body(https, #""topics": []"#), pointers: ["/topics"]),
        .init(
            "an unknown topic", "POST", path, body(https, #""topics": ["quota.level", "goal"]"#),
            pointers: ["/topics/1"], hint: "capability.off"),
        .init("a test", "POST", path, body(https, #""topics": ["webhook.test"]"#), pointers: ["/topics/0"]),
        .init(
            "a topic twice", "POST", path, body(https, #""topics": ["quota.level", "quota.level"]"#),
            pointers: ["/topics/1"]),
        .init(
            "no bundle ID", "POST", path, body(https, #""topics": ["quota.level"], "bundleId": "!""#),
            pointers: ["/bundleId"]),
        .init(
            "enabled, perhaps", "PUT", one, body(https, #""topics": ["quota.level"], "enabled": 1"#),
            pointers: ["/enabled"]),
        .init(
            "a secret of one's own", "POST", path, body(https, #""topics": ["quota.level"], "secret": "x""#),
            slug: "unknown-field", pointers: ["/secret"]),
        .init(
            "no tag", "PUT", one, draft, headers: ["If-Match": "5"], pointers: ["If-Match"], hint: "quotation marks"),
        .init(
            "an overlap of more than a week", "POST", one + "/secret", #"{"overlapSeconds": 604801}"#,
            pointers: ["/overlapSeconds"]),
        .init("a page of nothing", "GET", path + "?limit=0", pointers: ["limit"]),
        .init("a declarer that is no ID", "GET", path + "?declaredBy=x", pointers: ["declaredBy"]),
        .init("an ID that is none", "GET", path + "/1", status: 404, slug: "webhook-not-found"),
    ]

    @Test(arguments: refusals)
    func `bad input is refused before any call`(refusal: Refusal) async throws { try await refusal.check() }

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
        world.webhooks.save = { _, _, _ in Sample.webhook() }
        let made = try await world("POST", Self.path, Self.draft)
        #expect(made.status == 201)
        #expect(made.text == Self.shape + #","secret":"\#(Self.secret.rawValue)"}"#)
        let shown = try await world("GET", Self.one)
        #expect(shown.text == Self.shape + "}")
        #expect(shown.headers[.eTag] == #""5""#)
        #expect(try await world("GET", Self.path).text == #"{"items":[\#(Self.shape)}],"nextCursor":"next"}"#)
        #expect(try await world("PUT", Self.one, Self.draft).text == Self.shape + "}")
    }

    private static func topics(for scope: APIKey.Scope) -> Set<WebhookTopic> {
        Set(WebhookTopic.allCases.filter { $0.scopes.contains(scope) })
    }

    @Test(
        arguments: [
            ("gs_admin", Set(WebhookTopic.allCases), .all),
            ("gs_organise", topics(for: .organise), .all), ("gs_operate", topics(for: .operate), .all),
            ("gs_stadium", Set(WebhookTopic.allCases), .only([Sample.stadium])),
            ("gs_pair_admin", Set(WebhookTopic.allCases), .only([Sample.stadium, Sample.other])),
        ] as [(String, Set<WebhookTopic>, AppReach)])
    func `a list has the webhooks that its reader may know`(
        secret: String, topics: Set<WebhookTopic>, reach: AppReach
    ) async throws {
        var world = RouteWorld()
        world.webhooks.list = { filter, page in
            guard filter == WebhookFilter(topics: topics, within: reach),
                page == PageRequest(limit: 2, cursor: "c")
            else { throw Unasked() }
            return Page(items: [], nextCursor: nil)
        }
        #expect(try await world("GET", Self.path + "?limit=2&cursor=c", as: secret).status == 200)
    }

    @Test func `a list can have the webhooks that one key declared, within the reader's reach`() async throws {
        var world = RouteWorld()
        world.webhooks.list = { filter, _ in
            guard filter.declaredBy == Sample.otherID, filter.reach == .only([Sample.stadium]) else { throw Unasked() }
            return Page(items: [], nextCursor: nil)
        }
        let path = Self.path + "?declaredBy=\(Sample.otherID)"
        #expect(try await world("GET", path, as: "gs_stadium").status == 200)
    }

    @Test func `a webhook's deletion passes on the key's reach, for the transaction to check`() async throws {
        var world = Self.world(Sample.webhook(of: Sample.stadium))
        world.webhooks.remove = { _, bounds in
            guard bounds == WebhookFilter(within: .only([Sample.stadium])) else { throw Unasked() }
            return true
        }
        #expect(try await world("DELETE", Self.one, as: "gs_stadium").status == 204)
    }

    @Test(
        arguments: [
            ([:], .none), (["If-Match": #""5""#], .versions([5])), (["If-Match": "*"], .present),
        ] as [([String: String], WriteCondition)])
    func `a change is applied to the version that its writer read`(
        headers: [String: String], condition: WriteCondition
    ) async throws {
        var world = Self.world()
        world.webhooks.save = { id, draft, asked in
            guard id == Sample.id, asked == condition, !draft.isEnabled else { throw Unasked() }
            throw Problem(.versionMismatch, "It is as expected.")
        }
        let body = Self.body("https://hooks.example.com/x", #""topics": ["quota.level"], "enabled": false"#)
        let answer = try await world("PUT", Self.one, body, headers: headers)
        #expect(answer.status == 412)
    }

    @Test(arguments: [("", 86_400), ("{}", 86_400), (#"{"overlapSeconds": 60}"#, 60), (#"{"overlapSeconds": 0}"#, 0)])
    func `the old secret also signs for the given time, by default a day`(body: String, overlap: Int) async throws {
        var world = Self.world()
        world.webhooks.rotate = { id, asked in
            guard id == Sample.id, asked == TimeInterval(overlap) else { throw Unasked() }
            return (Sample.webhook(), Self.secret)
        }
        let answer = try await world("POST", Self.one + "/secret", body)
        #expect(answer.status == 201)
        #expect(answer.json["secret"] as? String == Self.secret.rawValue)
    }

    @Test func `a test is queued, a webhook is deleted, and a webhook deleted meanwhile is not found`() async throws {
        var world = Self.world()
        world.webhooks.post = { $0 == Sample.id ? Sample.delivery : nil }
        world.webhooks.remove = { id, _ in id == Sample.id }
        let test = try await world("POST", Self.one + "/test")
        #expect(test.status == 202)
        #expect(test.json["messageId"] as? String == "msg_11111111-2222-4333-8444-555555555555")
        #expect(try await world("DELETE", Self.one).status == 204)
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
}
