internal import Foundation
internal import Grandstand
internal import GrandstandContract
internal import GrandstandTestKit
internal import HTTPTypes
internal import Postgres
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
            (settled, "gs_operate", 403), (settled, "gs_stadium", 404), (Sample.id.text, "gs_admin", 404),
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
        #expect(made.json["url"] as? String == "https://hooks.example.com/x" && made.json["bundleId"] is NSNull)
        #expect(made.json["declaredBy"] as? String == key.id.text)
        let shape = made.text.replacingOccurrences(of: #","secret":"\#(secret)"}"#, with: "")
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
            #"{"id":"\#(message.id.text)","messageId":"\#(message.name)","topic":"webhook.test","state":"failed","#
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

/// Messages to webhooks, from the claim to the last attempt.
@Suite(.timeLimit(.minutes(20)))
struct WebhookQueueTests {
    @Test func `a failure is repeated by the schedule, and a replay begins another round`() async throws {
        try await withHooks { hooks in
            let (webhook, first) = try await hooks.tested()
            try await hooks.settle(first, .answered(status: 500))
            #expect(try await hooks.delivery(first).nextAttemptAt == hooks.stores.now + WebhookVerdict.delays[0])
            hooks.stores.clock.advance(by: WebhookVerdict.delays[0])
            let second = try #require(try await hooks.claim().first)
            #expect(second.tries == 2)
            try await hooks.settle(second, .answered(status: 200))
            _ = try await hooks.webhooks.replay(first.id, of: webhook.uuid, hooks.caller)
            let again = try #require(try await hooks.claim().first)
            #expect(again.tries == 1 && again.name == first.name)
            try await hooks.settle(again, .answered(status: 200))
            let log = try await hooks.delivery(first)
            #expect(log.state == .delivered && log.attempts == 3 && log.log.map(\.attempt) == [1, 2, 3])
        }
    }

    @Test func `a lease can be extended, and moves on without its replica`() async throws {
        try await withHooks { hooks in
            let (_, message) = try await hooks.tested()
            try await hooks.webhooks.extendLeases(
                of: [message.id], replica: hooks.stores.replica, until: hooks.stores.now + 60)
            hooks.stores.clock.advance(by: 20)
            #expect(try await hooks.claim(by: UUID()).isEmpty)
            let other = UUID()
            hooks.stores.clock.advance(by: 40)
            let taken = try #require(try await hooks.claim(by: other).first)
            #expect(taken.id == message.id && taken.tries == 2)
            try await hooks.webhooks.extendLeases(
                of: [message.id], replica: hooks.stores.replica, until: .distantFuture)
            try await hooks.settle(message, .answered(status: 200))
            #expect(try await hooks.delivery(message).state == .sending)
            hooks.stores.clock.advance(by: 20)
            let again = try #require(try await hooks.claim(by: other).first)
            try await hooks.settle(again, .answered(status: 200), by: other)
            #expect(try await hooks.delivery(message).state == .delivered)
        }
    }

    @Test func `after a rotation both secrets sign until the overlap ends, and then only the new one`() async throws {
        try await withHooks { hooks in
            let (webhook, message) = try await hooks.tested()
            let old = message.secrets
            let rotated = try await hooks.webhooks.rotateSecret(of: webhook.uuid, overlap: 60, hooks.caller).secret
            let new = try #require(rotated.flatMap(WebhookSecret.init))
            for (seconds, secrets) in [(59.0, [new] + old), (1, [new])] {
                try await hooks.settle(message, .answered(status: 200))
                hooks.stores.clock.advance(by: seconds)
                _ = try await hooks.webhooks.replay(message.id, of: webhook.uuid, hooks.caller)
                #expect(try await hooks.claim().map(\.secrets) == [secrets])
            }
        }
    }

    @Test func `webhooks of one app share its places, and leave those of other apps free`() async throws {
        try await withHooks { hooks in
            for app in ["com.example.One", "com.example.Other"] { try await hooks.stores.apps.put(.sample(app)) }
            for _ in 0..<3 {
                let webhook = try await hooks.add([.quotaLevel], app: "com.example.One")
                for _ in 0..<4 { try await hooks.test(webhook) }
            }
            let first = try await hooks.claim(perWebhook: 4, perApp: 5)
            #expect(first.count == 5)
            #expect(Set(first.map(\.webhook)).count == 3)
            #expect(try await hooks.claim(perWebhook: 4, perApp: 5).isEmpty)
            hooks.stores.clock.advance(by: 1)
            let other = try await hooks.add([.quotaLevel], app: "com.example.Other")
            try await hooks.test(other)
            #expect(try await hooks.claim(limit: 1, perWebhook: 4, perApp: 5).map(\.webhook) == [other.uuid])
            try await hooks.settle(try #require(first.first), .answered(status: 200))
            #expect(try await hooks.claim(perWebhook: 4, perApp: 5).count == 1)
        }
    }

    @Test func `after a failure a webhook gets one message at a time until one is accepted`() async throws {
        try await withHooks { hooks in
            let webhook = try await hooks.add([.quotaLevel])
            for _ in 0..<8 { try await hooks.test(webhook) }
            let first = try await hooks.claim(perWebhook: 4)
            #expect(first.count == 4)
            for message in first { try await hooks.settle(message, .unanswered("no answer")) }
            let probe = try await hooks.claim(perWebhook: 4)
            #expect(probe.count == 1)
            #expect(try await hooks.claim(perWebhook: 4).isEmpty)
            try await hooks.settle(try #require(probe.first), .answered(status: 200))
            #expect(try await hooks.claim(perWebhook: 4).count == 3)
        }
    }

    @Test func `after five posts without an answer or with a 5xx a webhook pauses, and a test does not`() async throws {
        try await withHooks { hooks in
            let webhook = try await hooks.add([.capabilityOff])
            let off = Contract.CapabilityOff(bundleId: "com.example.Goal", environment: .production, evidence: "x")
            for _ in 0..<9 {
                try await hooks.stores.pool.query(
                    WebhookNews.message(.capabilityOff, about: off.bundleId, at: hooks.stores.now, off))
            }
            let silent = WebhookAnswer.unanswered("x")
            for answer in [silent, .answered(status: 404), .answered(status: 500), silent, silent, silent] {
                try await hooks.settle(try #require(try await hooks.claim(limit: 1).first), answer)
            }
            try await hooks.settle(try #require(try await hooks.claim().first), .answered(status: 503))
            hooks.stores.clock.advance(by: 0.999)
            #expect(try await hooks.claim().isEmpty)
            try await hooks.test(webhook)
            let test = try #require(try await hooks.claim().first)
            try await hooks.settle(test, silent)
            hooks.stores.clock.advance(by: 1.999)
            #expect(try await hooks.claim().isEmpty)
            hooks.stores.clock.advance(by: 0.001)
            #expect(try await hooks.claim().count == 1)
        }
    }

    @Test func `410 disables a webhook and cancels its waiting messages`() async throws {
        try await withHooks { hooks in
            let (webhook, message) = try await hooks.tested()
            try await hooks.test(webhook)
            try await hooks.settle(message, .answered(status: 410))
            #expect(try await hooks.webhook(webhook.uuid).value.enabled == false)
            #expect(Set(try await hooks.log(webhook.uuid).map(\.state)) == [.failed, .cancelled])
            // Enabling the webhook by hand resets its failures.
            try await hooks.setEnabled(true, webhook.uuid)
            let enabled = try await hooks.webhook(webhook.uuid).value
            #expect(enabled.enabled && enabled.reason == nil && enabled.failingSince == nil)
        }
    }

    @Test func `five days of failures disable a webhook, unless one succeeds`() async throws {
        try await withHooks { hooks in
            let webhook = try await hooks.add([.quotaLevel])
            func post(_ answer: WebhookAnswer) async throws -> Bool {
                try await hooks.test(webhook)
                try await hooks.settle(try #require(try await hooks.claim().first), answer)
                return try await hooks.webhook(webhook.uuid).value.enabled
            }
            #expect(try await post(.unanswered("x")))
            hooks.stores.clock.advance(by: 4 * 86_400)
            #expect(try await post(.answered(status: 200)))
            #expect(try await post(.unanswered("x")))
            hooks.stores.clock.advance(by: 5 * 86_400 - 1)
            #expect(try await post(.unanswered("x")))
            hooks.stores.clock.advance(by: 1)
            #expect(try await post(.unanswered("x")) == false)
        }
    }

    @Test func `old messages are removed with their log, except those still being tried`() async throws {
        try await withHooks { hooks in
            let (webhook, message) = try await hooks.tested()
            try await hooks.settle(message, .answered(status: 200))
            try await hooks.test(webhook)
            let history = hooks.stores.history
            #expect(try await history.prune("webhook messages", before: hooks.stores.now, limit: 10) == 0)
            hooks.stores.clock.advance(by: 1)
            #expect(try await history.prune("webhook messages", before: hooks.stores.now, limit: 10) == 1)
            try await refuses(.webhookDeliveryNotFound) { try await hooks.delivery(message) }
            #expect(try await hooks.claim().count == 1)
        }
    }
}
