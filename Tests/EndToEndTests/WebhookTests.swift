internal import APNsSimulator
internal import Cryptography
internal import Foundation
internal import Grandstand
internal import GrandstandTestKit
internal import Testing

/// Webhooks from the API to a receiver's socket and back into the log.
@Suite(.sharedStage, .timeLimit(.minutes(20)))
struct WebhookTests {
    /// The receivers of these tests listen on loopback, without TLS.
    static let settings = ["GRANDSTAND_WEBHOOK_HTTP": "true", "GRANDSTAND_WEBHOOK_NETWORKS": "127.0.0.0/8"]

    private static let update = #"{"event": "update", "contentState": {"n": 1}}"#

    /// Makes a webhook; returns its path and its secret.
    private static func create(
        _ stage: Stage, _ receiver: Receiver, _ topics: [String]
    ) async throws -> (path: String, secret: WebhookSecret) {
        let list = topics.map { "\"\($0)\"" }.joined(separator: ",")
        let answer = try await stage.api(
            "POST", "/v1/webhooks",
            """
            {"url": "\(receiver.url)/hooks?from=grandstand", "topics": [\(list)], "bundleId": "\(stage.bundleID)"}
            """)
        try #require(answer.status == 201, "\(answer.text)")
        let secret = try #require(answer.json["secret"]?.string.flatMap(WebhookSecret.init))
        return ("/v1/webhooks/\(try #require(answer.json["id"]?.string))", secret)
    }

    /// Computes the signature of a secret as a receiver would. Returns whether the request carries this signature.
    private static func isSigned(_ request: Receiver.Request, with secret: WebhookSecret) -> Bool {
        guard let id = request.headers["webhook-id"], let time = request.headers["webhook-timestamp"],
            let key = Data(base64Encoded: String(secret.rawValue.dropFirst(6)))
        else { return false }
        let code = SHA256.hmac(Array("\(id).\(time).".utf8) + request.body, key: Array(key))
        let wanted = "v1,\(Data(code).base64EncodedString())"
        return request.headers["webhook-signature"]?.split(separator: " ").contains { $0 == wanted } ?? false
    }

    private static func json(_ request: Receiver.Request) throws -> JSON {
        try JSONDecoder().decode(JSON.self, from: Data(request.body))
    }

    @Test func `a settled broadcast is reported by one signed webhook message, which is logged`() async throws {
        try await Receiver.with { receiver in
            let stage = try await Stage.own()
            try await stage.putLiveEvent()
            let (path, secret) = try await Self.create(stage, receiver, ["broadcast.settled"])
            let id = try await stage.broadcast(Self.update)
            let request = try #require(await receiver.wait(for: 1).first)
            #expect(Self.isSigned(request, with: secret))
            #expect(!Self.isSigned(request, with: .random()))
            let message = try Self.json(request)
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
