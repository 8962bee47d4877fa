internal import APNsSimulator
internal import Foundation
internal import Grandstand
internal import GrandstandTestKit
internal import Testing

/// Webhooks from the API to a receiver's socket and back into the log.
@Suite(.sharedStage, .timeLimit(.minutes(20)))
struct WebhookTests {
    /// The receivers of these tests listen on loopback, without TLS.
    static let settings = ["GRANDSTAND_WEBHOOK_HTTP": "true", "GRANDSTAND_WEBHOOK_NETWORKS": "127.0.0.0/8"]

    @Test func `a settled broadcast is reported by one signed webhook message, which is logged`() async throws {
        try await Receiver.with { receiver in
            let stage = try await Stage.own()
            try await stage.putLiveEvent()
            let created = try await stage.api(
                "POST", "/v1/webhooks",
                """
                {"url": "\(receiver.url)/hooks?from=grandstand", "topics": ["broadcast.settled"],
                 "bundleId": "\(stage.bundleID)"}
                """)
            #expect(created.status == 201 && created.json["secret"]?.string != nil, "\(created.text)")
            let path = "/v1/webhooks/\(try #require(created.json["id"]?.string))"
            let id = try await stage.broadcast(#"{"event": "update", "contentState": {"n": 1}}"#)
            let request = try #require(await receiver.wait(for: 1).first)
            // `SignatureTests` have the signature itself.
            #expect(request.headers["webhook-signature"]?.hasPrefix("v1,") == true)
            let message = try JSONDecoder().decode(JSON.self, from: Data(request.body))
            #expect(message.names == ["data", "timestamp", "type"])
            #expect(message["type"]?.string == "broadcast.settled")
            #expect(message["data"]?["id"]?.string == id)
            #expect(message["data"]?["eventKey"]?.string == stage.event)
            #expect(message["data"]?["counts"]?["accepted"]?.int == 1)

            let delivery = try await until("the delivery is settled") {
                let items = try await stage.api("GET", "\(path)/deliveries").json["items"]?.items ?? []
                #expect(items.count == 1)
                return items.first { $0["state"]?.string == "delivered" }
            }
            #expect(delivery["messageId"]?.string == request.headers["webhook-id"])
            #expect(delivery["status"]?.int == 204)
            let log = try await stage.api("GET", "\(path)/deliveries/\(delivery["id"]?.string ?? "")").json
            #expect(log["log"]?.items.count == 1)
            #expect(log["message"] == message)
            #expect(receiver.requests.count == 1)
        }
    }
}
