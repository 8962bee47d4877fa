internal import Foundation
internal import Grandstand
internal import GrandstandTestKit
internal import PortFakes
internal import Testing

@testable internal import GrandstandHTTP

/// `/v1/webhooks/{id}/deliveries`.
struct WebhookDeliveryRouteTests {
    private static let path = "/v1/webhooks/11111111-2222-4333-8444-555555555555/deliveries"
    private static let one = path + "/11111111-2222-4333-8444-555555555555"
    /// A delivery as JSON. The last brace is missing, because the answer for a single delivery continues with its log.
    private static let shape =
        #"{"id":"11111111-2222-4333-8444-555555555555","messageId":"msg_11111111-2222-4333-8444-555555555555","#
        + #""topic":"broadcast.settled","state":"failed","attempts":2,"status":500,"reason":"HTTP 500","#
        + #""createdAt":"2026-11-21T20:45:00.000Z","nextAttemptAt":null,"settledAt":"2026-11-21T20:45:00.000Z""#

    private static func world() -> RouteWorld {
        var world = RouteWorld()
        world.webhooks.find = { $0 == Sample.id ? Sample.webhook() : nil }
        return world
    }

    static let refusals: [Refusal] = [
        .init("an unknown state", "GET", path + "?state=lost", pointers: ["state"], hint: "delivered"),
        .init("an unknown topic", "GET", path + "?topic=goal", pointers: ["topic"], hint: "webhook.test"),
        .init("a page of 201", "GET", path + "?limit=201", pointers: ["limit"]),
        .init("an ID that is none", "GET", path + "/msg_1", status: 404, slug: "webhook-delivery-not-found"),
        .init(
            "nothing to post again", "POST", path + "/msg_1/replay", status: 404, slug: "webhook-delivery-not-found"),
    ]

    @Test(arguments: refusals)
    func `bad input is refused before any call`(refusal: Refusal) async throws { try await refusal.check() }

    @Test func `the log is filtered and paged by the query`() async throws {
        var world = Self.world()
        world.webhooks.log = { webhook, filter, page in
            guard webhook == Sample.id, filter == WebhookDeliveryFilter(state: .failed, topic: .broadcastSettled),
                page == PageRequest(limit: 2, cursor: "c")
            else { throw Unasked() }
            return Page(items: [Sample.delivery], nextCursor: "d")
        }
        let answer = try await world("GET", Self.path + "?state=failed&topic=broadcast.settled&limit=2&cursor=c")
        #expect(answer.text == #"{"items":[\#(Self.shape)}],"nextCursor":"d"}"#)
    }

    @Test func `a delivery is shown with its message and every attempt`() async throws {
        var world = Self.world()
        let message =
            #"{"type": "webhook.test", "timestamp": "2026-11-21T20:45:00.000Z", "#
            + #""data": {"webhook": "\#(Sample.id.uuidString.lowercased())", "by": "key:ops"}}"#
        world.webhooks.read = { id, webhook in
            guard id == Sample.id, webhook == Sample.id else { return nil }
            return WebhookDeliveryLog(
                delivery: Sample.delivery, body: Array(message.utf8),
                attempts: [
                    WebhookAttempt(number: 1, at: RouteWorld.now, milliseconds: 12, status: nil, reason: "no answer"),
                    WebhookAttempt(number: 2, at: RouteWorld.now, milliseconds: 7, status: 500, reason: "HTTP 500"),
                ])
        }
        #expect(
            try await world("GET", Self.one).text
                == Self.shape
                + #","message":\#(message),"log":["#
                + #"{"attempt":1,"at":"2026-11-21T20:45:00.000Z","milliseconds":12,"status":null,"#
                + #""reason":"no answer"},"#
                + #"{"attempt":2,"at":"2026-11-21T20:45:00.000Z","milliseconds":7,"status":500,"reason":"HTTP 500"}]}"#)
        #expect(
            try await world("GET", Self.path + "/\(Sample.otherID)").slug == "webhook-delivery-not-found")
    }

    @Test func `a delivery can be posted again, if it exists`() async throws {
        var world = Self.world()
        world.webhooks.again = { id, webhook in id == Sample.id && webhook == Sample.id ? Sample.delivery : nil }
        let answer = try await world("POST", Self.one + "/replay")
        #expect(answer.status == 202)
        #expect(answer.text == Self.shape + "}")
        let none = try await world("POST", Self.path + "/\(Sample.otherID)/replay")
        #expect(none.slug == "webhook-delivery-not-found")
    }
}
