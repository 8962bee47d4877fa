internal import Foundation
internal import Grandstand
internal import GrandstandTestKit
internal import NIOCore
internal import Synchronization
internal import Testing

@testable internal import WebhookClient

/// One post over a real socket, and everything a receiver may do to it.
@Suite(.timeLimit(.minutes(1)))
struct WebhookClientTests {
    private static let loopback = NetworkGuard(
        allowed: ["127.0.0.0/8", "::1"].compactMap(IPNetwork.init), allowsPlainHTTP: true)

    private static func message(_ url: String, body: String = #"{"type":"webhook.test"}"#) throws -> ClaimedWebhook {
        ClaimedWebhook(
            id: UUID(), webhook: UUID(), message: UUID(), topic: .webhookTest,
            url: try #require(WebhookURL(rawValue: url)), secrets: [.random()], body: Array(body.utf8), tries: 1)
    }

    private static func client(
        _ networks: NetworkGuard = loopback, timeout: Duration = .seconds(20), trusting file: String? = nil
    ) throws -> WebhookClient {
        try WebhookClient(
            settings: .init(networks: networks, timeout: timeout, trustedFile: file), now: { Date() })
    }

    @Test func `a message is posted whole`() async throws {
        try await Receiver.with(react: { _, _ in .answer(200, length: 100) }) { receiver in
            let body = #"{"text":"\#(String(repeating: "ä", count: 100_000))"}"#
            let message = try Self.message("\(receiver.url)/in/here?a=b", body: body)
            let answer = try await Self.client().post(message)
            #expect(answer == .answered(status: 200))
            let request = try #require(receiver.requests.first)
            #expect(request.method == "POST")
            #expect(request.target == "/in/here?a=b")
            #expect(request.headers["host"] == "127.0.0.1:\(receiver.port)")
            #expect(request.headers["webhook-id"] == WebhookDelivery.messageName(message.message))
            #expect(request.body == message.body)
        }
    }

    @Test func `a redirect is an answer and leads nowhere`() async throws {
        try await Receiver.with { other in
            try await Receiver.with(react: { _, _ in .answer(307, headers: ["location": other.url]) }) { receiver in
                let answer = try await Self.client().post(try Self.message(receiver.url))
                #expect(answer == .answered(status: 307))
                #expect(other.connections == 0)
                #expect(receiver.requests.count == 1)
            }
        }
    }

    @Test func `Retry-After as seconds and as date`() async throws {
        let date = "Tue, 14 Nov 2023 22:14:20 GMT"
        try await Receiver.with(
            react: { number, _ in .answer(503, headers: ["retry-after": number == 0 ? "17" : date]) }
        ) { receiver in
            let client = try WebhookClient(
                settings: .init(networks: Self.loopback), now: { Date(timeIntervalSince1970: 1_700_000_000) })
            let message = try Self.message(receiver.url)
            #expect(await client.post(message) == .answered(status: 503, retryAfter: 17))
            #expect(await client.post(message) == .answered(status: 503, retryAfter: 60))
        }
    }

    @Test func `silence ends with the timeout, and a hang-up at once`() async throws {
        try await Receiver.with(react: { number, _ in number == 0 ? .silence : .hangUp }) { receiver in
            let message = try Self.message(receiver.url)
            let silence = try await Self.client(timeout: .milliseconds(300)).post(message)
            #expect(silence == .unanswered("no answer in time"))
            guard case .unanswered(let reason) = try await Self.client().post(message) else {
                Issue.record("a hang-up was taken for an answer")
                return
            }
            #expect(!reason.isEmpty)
        }
    }

    @Test func `an answer without end is read up to a limit`() async throws {
        try await Receiver.with(react: { _, _ in .answer(200, length: 50_000_000) }) { receiver in
            let answer = try await Self.client().post(try Self.message(receiver.url))
            #expect(answer == .answered(status: 200))
        }
    }

    @Test func `a cancelled post ends at once`() async throws {
        try await Receiver.with(react: { _, _ in .silence }) { receiver in
            let (client, message) = (try Self.client(), try Self.message(receiver.url))
            let post = Task { await client.post(message) }
            _ = await receiver.wait(for: 1)
            post.cancel()
            #expect(await post.value == .unanswered("the server is stopping"))
        }
    }

    @Test func `nobody listens`() async throws {
        let receiver = try await Receiver.start()
        let url = receiver.url
        try await receiver.stop()
        guard case .unanswered(let reason) = try await Self.client().post(try Self.message(url)) else {
            Issue.record("an answer from nobody")
            return
        }
        #expect(reason.hasPrefix("no connection to 127.0.0.1:"))
        #expect(reason.hasSuffix(": Connection refused"))
    }

    @Test(arguments: ["127.0.0.1", "localhost", "2130706433", "0x7f.1", "127.1"])
    func `loopback in any spelling is refused before a connection is made`(host: String) async throws {
        try await Receiver.with { receiver in
            let client = try Self.client(NetworkGuard(allowsPlainHTTP: true))
            guard case .refused = await client.post(try Self.message("http://\(host):\(receiver.port)/")) else {
                Issue.record("\(host) was called")
                return
            }
            #expect(receiver.connections == 0)
        }
    }

    @Test func `http is refused unless it is allowed`() async throws {
        try await Receiver.with { receiver in
            let networks = NetworkGuard(allowed: Self.loopback.allowed)
            guard case .refused = try await Self.client(networks).post(try Self.message(receiver.url)) else {
                Issue.record("http was used")
                return
            }
            #expect(receiver.connections == 0)
        }
    }

    /// A name that is public when it is checked and private when it is connected to: it is asked for once.
    @Test func `the address that was checked is the one that is called`() async throws {
        try await Receiver.with { receiver in
            let asked = Mutex(0)
            let networks = NetworkGuard(
                allowed: ["127.0.0.2"].compactMap(IPNetwork.init), allowsPlainHTTP: true)
            let client = try WebhookClient(settings: .init(networks: networks), now: { Date() }) { _, port in
                let number = asked.withLock { count in
                    count += 1
                    return count
                }
                // Nobody listens on the first, which is allowed; the receiver does on the second.
                return [try SocketAddress(ipAddress: number == 1 ? "127.0.0.2" : "127.0.0.1", port: port)]
            }
            let answer = await client.post(try Self.message("http://rebinding.example:\(receiver.port)/"))
            guard case .unanswered = answer else {
                Issue.record("\(answer)")
                return
            }
            let count = asked.withLock { $0 }
            #expect(count == 1)
            #expect(receiver.connections == 0)
        }
    }

    @Test func `of several addresses only the allowed are called`() async throws {
        try await Receiver.with { receiver in
            let networks = NetworkGuard(allowed: ["127.0.0.1"].compactMap(IPNetwork.init), allowsPlainHTTP: true)
            let client = try WebhookClient(settings: .init(networks: networks), now: { Date() }) { _, port in
                try ["10.0.0.1", "127.0.0.1"].map { try SocketAddress(ipAddress: $0, port: port) }
            }
            let answer = await client.post(try Self.message("http://both.example:\(receiver.port)/"))
            #expect(answer == .answered(status: 204))
        }
    }

    @Test func `TLS with a trusted certificate for the name`() async throws {
        let identity = try TestIdentity(["localhost"])
        try await Receiver.with(identity.receiver) { receiver in
            let message = try Self.message("https://localhost:\(receiver.port)/")
            let answer = try await Self.client(trusting: identity.file).post(message)
            #expect(answer == .answered(status: 204))
            guard case .unanswered(let reason) = try await Self.client().post(message) else {
                Issue.record("an unknown authority was trusted")
                return
            }
            #expect(reason.hasPrefix("TLS failed"))
        }
    }

    @Test func `a certificate for another name is refused`() async throws {
        let identity = try TestIdentity(["elsewhere.example"])
        try await Receiver.with(identity.receiver) { receiver in
            let message = try Self.message("https://localhost:\(receiver.port)/")
            guard case .unanswered(let reason) = try await Self.client(trusting: identity.file).post(message) else {
                Issue.record("a certificate for another name was taken")
                return
            }
            #expect(reason.hasPrefix("TLS failed"))
            #expect(receiver.requests.isEmpty)
        }
    }

    @Test func `a file without certificates is a mistake`() {
        #expect(throws: WebhookClientError.self) { try Self.client(trusting: "/dev/null/nothing") }
    }
}
