internal import APNsSimulator
internal import Cryptography
internal import Foundation
internal import Grandstand
internal import GrandstandTestKit
internal import Testing

/// Webhooks from the API to a receiver's socket and back into the log.
@Suite(.timeLimit(.minutes(3)))
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
            "POST", "/v1/webhooks", #"{"url": "\#(receiver.url)/hooks?from=grandstand", "topics": [\#(list)]}"#)
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
            try await Stage.with(settings: Self.settings) { stage in
                try await stage.putLiveEvent()
                let (path, secret) = try await Self.create(stage, receiver, ["broadcast.settled"])
                let id = try await stage.broadcast(Self.update)
                let request = try #require(await receiver.wait(for: 1).first)
                #expect(request.method == "POST")
                #expect(request.target == "/hooks?from=grandstand")
                #expect(request.headers["content-type"] == "application/json")
                #expect(Self.isSigned(request, with: secret))
                #expect(!Self.isSigned(request, with: .random()))
                let message = try Self.json(request)
                #expect(message.names == ["data", "timestamp", "type"])
                #expect(message["type"]?.string == "broadcast.settled")
                #expect(message["data"]?["id"]?.string == id)
                #expect(message["data"]?["eventKey"]?.string == "derby")
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

    @Test func `a webhook's test is signed by both valid secrets, and its replay has the same ID`()
        async throws
    {
        try await Receiver.with(react: { number, _ in .answer(number == 0 ? 500 : 200, length: 10) }) { receiver in
            try await Stage.with(settings: Self.settings) { stage in
                let (path, first) = try await Self.create(stage, receiver, ["channel.missing"])
                let rotated = try await stage.api("POST", "\(path)/secret", #"{"overlapSeconds": 60}"#)
                let second = try #require(rotated.json["secret"]?.string.flatMap(WebhookSecret.init))
                let test = try await stage.api("POST", "\(path)/test")
                #expect(test.status == 202)
                let delivery = "\(path)/deliveries/\(try #require(test.json["id"]?.string))"
                let request = try #require(await receiver.wait(for: 1).first)
                #expect(Self.isSigned(request, with: first))
                #expect(Self.isSigned(request, with: second))
                _ = try await until("the first try is logged") {
                    try await stage.api("GET", delivery).json["log"]?.items.first
                }
                #expect(try await stage.api("GET", delivery).json["reason"]?.string == "HTTP 500")

                _ = try await stage.api("POST", "\(path)/secret", #"{"overlapSeconds": 0}"#)
                #expect(try await stage.api("POST", "\(delivery)/replay").status == 202)
                let again = try #require(await receiver.wait(for: 2).last)
                #expect(again.headers["webhook-id"] == request.headers["webhook-id"])
                #expect(again.body == request.body)
                #expect(!Self.isSigned(again, with: first))
                #expect(!Self.isSigned(again, with: second))
                let settled = try await until("the replay is taken") {
                    let json = try await stage.api("GET", delivery).json
                    return json["state"]?.string == "delivered" ? json : nil
                }
                #expect(settled["log"]?.items.map { $0["status"]?.int } == [500, 200])
            }
        }
    }

    @Test func `410 disables the webhook, and the audit log says so`() async throws {
        try await Receiver.with(react: { _, _ in .answer(410) }) { receiver in
            try await Stage.with(settings: Self.settings) { stage in
                let (path, _) = try await Self.create(stage, receiver, ["quota.level"])
                _ = try await stage.api("POST", "\(path)/test")
                let webhook = try await until("the webhook is disabled") {
                    let json = try await stage.api("GET", path).json
                    return json["enabled"]?.bool == false ? json : nil
                }
                #expect(webhook["reason"]?.string?.contains("410") ?? false)
                let audited = try await stage.audited("webhook.disabled")
                #expect(audited.count == 1)
                // The query of the webhook's URL may hold a token, so the audit log does not show the query.
                #expect(audited.first?["reason"]?.string?.contains("from=grandstand") == false)
            }
        }
    }

    @Test func `webhooks report a channel that Apple lost as missing and its successor as replacement`() async throws {
        try await Receiver.with { receiver in
            try await Stage.with(settings: Self.settings) { stage in
                // If no other channel remained, the server would not replace this one by itself.
                try await stage.putLiveEvent("friendly")
                try await stage.putEvent("derby")
                let channels = try await stage.activeChannels(of: "derby")
                _ = try await Self.create(stage, receiver, ["channel.missing", "channel.replaced"])
                try await AppleConsole.with(stage.simulator) { try await $0.delete(channels[0]) }
                _ = try await stage.broadcast(Self.update)
                let messages = try await receiver.wait(for: 2).map(Self.json)
                let byType = Dictionary(messages.map { ($0["type"]?.string ?? "", $0["data"]) }) { first, _ in first }
                #expect(byType.keys.sorted() == ["channel.missing", "channel.replaced"])
                #expect(byType["channel.missing"]??["channelId"]?.string == channels[0])
                #expect(byType["channel.replaced"]??["replaced"]?["channelId"]?.string == channels[0])
                #expect(byType["channel.replaced"]??["eventKey"]?.string == "derby")
                #expect(byType["channel.replaced"]??["channelId"]?.string != channels[0])
            }
        }
    }

    @Test func `webhooks report a quota that becomes full and a channel that another system made`() async throws {
        try await Receiver.with { receiver in
            try await Stage.with(settings: Self.settings) { stage in
                _ = try await Self.create(stage, receiver, ["quota.level", "capability.off", "reconciliation.found"])
                try await stage.putApp(channelLimit: 1)
                try await stage.putEvent("derby")
                let level = try Self.json(try #require(await receiver.wait(for: 1).first))
                #expect(level["type"]?.string == "quota.level")
                #expect(level["data"]?["level"]?.string == "critical")
                #expect(level["data"]?["previousLevel"]?.string == "ok")
                try await stage.activeChannels(of: "derby")
                try await AppleConsole.with(stage.simulator) { _ = try await $0.create() }
                _ = try await stage.reconcile("{}")
                let found = try Self.json(try #require(await receiver.wait(for: 2).last))
                #expect(found["type"]?.string == "reconciliation.found")
                #expect(found["data"]?["newUnmanaged"]?.int == 1)
            }
        }
    }

    @Test func `a receiver that is not public is refused when a webhook is made`() async throws {
        try await Receiver.with { receiver in
            // Loopback is not allowed here, by its number or by its name.
            try await Stage.with(settings: ["GRANDSTAND_WEBHOOK_HTTP": "true"]) { stage in
                for url in [
                    "http://127.0.0.1:\(receiver.port)", "http://[::ffff:10.0.0.1]/", "https://169.254.169.254/",
                    "http://localhost:\(receiver.port)/",
                ] {
                    let answer = try await stage.api(
                        "POST", "/v1/webhooks", #"{"url": "\#(url)", "topics": ["quota.level"]}"#)
                    #expect(answer.status == 422)
                    #expect(answer.pointers == ["/url"])
                }
                #expect(receiver.connections == 0)
            }
        }
    }

    @Test func `a webhook's creation and rotation, repeated with an idempotency key, are one with one secret`()
        async throws
    {
        try await Receiver.with { receiver in
            try await Stage.with(settings: Self.settings) { stage in
                let body = #"{"url": "\#(receiver.url)", "topics": ["channel.missing"]}"#
                func twice(_ path: String, _ body: String) async throws -> [HTTPCaller.Answer] {
                    let headers = ["Idempotency-Key": path]
                    let first = try await stage.api("POST", path, body, headers: headers)
                    return [first, try await stage.api("POST", path, body, headers: headers)]
                }
                let made = try await twice("/v1/webhooks", body)
                #expect(made.map(\.status) == [201, 201])
                #expect(made[0].body == made[1].body)
                #expect(made[1].headers["idempotent-replayed"] == "true")
                #expect(try await stage.api("GET", "/v1/webhooks").json["items"]?.items.count == 1)
                let path = "/v1/webhooks/\(try #require(made[0].json["id"]?.string))"
                let rotated = try await twice("\(path)/secret", "{}")
                #expect(rotated[0].json["secret"]?.string != made[0].json["secret"]?.string)
                #expect(rotated[0].body == rotated[1].body)
                let tests = try await twice("\(path)/test", "")
                #expect(tests.map(\.status) == [202, 202])
                #expect(await receiver.wait(for: 1).count == 1)
                #expect(try await stage.api("GET", "\(path)/deliveries").json["items"]?.items.count == 1)
            }
        }
    }

    @Test func `a key makes and sees only webhooks that its scopes and app allow`() async throws {
        try await Receiver.with { receiver in
            try await Stage.with(settings: Self.settings) { stage in
                try await stage.putApp()
                let organiser = try await stage.caller([.organise])
                let operatorOfApp = try await stage.caller([.operate], app: Stage.bundleID)
                let lookup = try await stage.caller([.lookup])
                let settled = #"{"url": "\#(receiver.url)", "topics": ["broadcast.settled"]}"#
                let levels = #"{"url": "\#(receiver.url)", "topics": ["quota.level"]}"#
                #expect(try await lookup("GET", "/v1/webhooks").status == 403)
                #expect(try await lookup("POST", "/v1/webhooks", settled).status == 403)
                #expect(try await organiser("POST", "/v1/webhooks", levels).status == 403)
                let own = try await organiser("POST", "/v1/webhooks", settled)
                #expect(own.status == 201)
                let bound = try await operatorOfApp("POST", "/v1/webhooks", levels)
                #expect(bound.status == 201)
                #expect(bound.json["bundleId"]?.string == Stage.bundleID)
                func ids(_ caller: HTTPCaller) async throws -> [String?] {
                    try await caller("GET", "/v1/webhooks").json["items"]?.items.map { $0["id"]?.string } ?? []
                }
                #expect(try await ids(organiser) == [own.json["id"]?.string])
                #expect(try await ids(operatorOfApp) == [bound.json["id"]?.string])
                #expect(try await ids(stage.api).count == 2)
                let path = "/v1/webhooks/\(own.json["id"]?.string ?? "")"
                #expect(try await operatorOfApp("GET", path).slug == "webhook-not-found")
                #expect(try await stage.api("GET", path).json["secret"] == nil)
                #expect(try await stage.api("DELETE", path).status == 204)
                #expect(try await stage.api("GET", path).slug == "webhook-not-found")
            }
        }
    }
}
