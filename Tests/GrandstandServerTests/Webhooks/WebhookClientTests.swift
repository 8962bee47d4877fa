internal import Foundation
internal import Grandstand
internal import GrandstandContract
internal import GrandstandTestKit
internal import Testing

@testable internal import GrandstandServer

/// Posts over a real socket, and what a receiver may do with them.
@Suite(.timeLimit(.minutes(20)))
struct WebhookClientTests {
    private static let loopback = NetworkGuard(
        allowed: ["127.0.0.0/8", "::1"].compactMap(IPNetwork.init), allowsPlainHTTP: true)
    private static let strict = NetworkGuard(allowsPlainHTTP: true)

    private static func message(_ url: String, body: String = #"{"type":"webhook.test"}"#) throws -> WebhookClaim {
        WebhookClaim(
            id: UUID(), webhook: UUID(), name: "msg_1",
            url: try #require(WebhookURL(rawValue: url)), secrets: [.random()], body: RawJSON(unchecked: body.utf8),
            attempts: 1, tries: 1)
    }

    private static func client(
        _ networks: NetworkGuard = loopback, timeout: Duration = .seconds(60), trusting file: String? = nil,
        addresses: [String] = []
    ) throws -> WebhookClient {
        try WebhookClient(
            settings: .init(networks: networks, timeout: timeout, trustedFile: file, dnsOverrides: addresses),
            now: { Date(timeIntervalSince1970: 1_700_000_000) })
    }

    @Test func `a message is posted completely, and an endless answer is read up to a limit`() async throws {
        try await Receiver.with(react: { number, _ in .answer(200, length: number == 0 ? 100 : 50_000_000) }) {
            receiver in
            let body = #"{"text":"\#(String(repeating: "ä", count: 100_000))"}"#
            let message = try Self.message("\(receiver.url)/in/here?a=b", body: body)
            let client = try Self.client()
            for _ in 0..<2 { #expect(await client.post(message) == .answered(status: 200)) }
            let request = try #require(receiver.requests.first)
            #expect(request.method == "POST")
            #expect(request.target == "/in/here?a=b")
            #expect(request.headers["host"] == "127.0.0.1:\(receiver.port)")
            #expect(request.headers["webhook-id"] == message.name)
            #expect(request.body == message.body.utf8)
        }
    }

    @Test func `a redirect is an answer that is not followed, and Retry-After is read`() async throws {
        try await Receiver.with { other in
            let headers = ["location": other.url, "retry-after": "17"]
            try await Receiver.with(react: { _, _ in .answer(307, headers: headers) }) { receiver in
                let outcome = try await Self.client().post(try Self.message(receiver.url))
                #expect(outcome == .answered(status: 307, retryAfter: 17))
                #expect(other.connections == 0)
                #expect(receiver.requests.count == 1)
            }
        }
    }

    @Test func `a silent receiver times out, and a closed connection or port is reported at once`() async throws {
        try await Receiver.with(react: { number, _ in number == 0 ? .silence : .hangUp }) { receiver in
            let message = try Self.message(receiver.url)
            #expect(
                try await Self.client(timeout: .seconds(2)).post(message)
                    == .unanswered("no answer: Timeout was reached"))
            #expect(try await Self.client().post(message).unanswered?.isEmpty == false)
            try await receiver.stop()
            #expect(try await Self.client().post(message).unanswered?.hasPrefix("no answer: Could") == true)
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

    /// Addresses that a name server may return for a name that was public when the webhook was declared.
    @Test func `a name with an address that is not public is refused when the socket is opened`() async throws {
        try await Receiver.with { receiver in
            let message = try Self.message("http://rebinding.example:\(receiver.port)/")
            for address in ["127.0.0.1", "169.254.169.254", "[::1]", "[::ffff:127.0.0.1]", "[64:ff9b::7f00:1]"] {
                let client = try Self.client(
                    Self.strict, addresses: ["rebinding.example:\(receiver.port):\(address)"])
                let answer = await client.post(message)
                #expect(answer == .unanswered(NetworkGuard.advice("rebinding.example")), "\(address)")
            }
            #expect(receiver.connections == 0)
            // Of several addresses only the allowed ones are called.
            let networks = NetworkGuard(allowed: ["127.0.0.1"].compactMap(IPNetwork.init), allowsPlainHTTP: true)
            let both = try Self.client(networks, addresses: ["both.example:\(receiver.port):10.0.0.1,127.0.0.1"])
            let answer = await both.post(try Self.message("http://both.example:\(receiver.port)/"))
            #expect(answer == .answered(status: 204))
        }
    }

    /// The test runs in a separate process, because `setenv` may crash while other threads read the environment.
    @Test func `proxies in the environment are ignored`() async {
        await #expect(processExitsWith: .success) {
            try await Receiver.with { proxy in
                try await Receiver.with { receiver in
                    let own = try WebhookClientTests.client()
                    let message = try WebhookClientTests.message(receiver.url)
                    for name in ["http_proxy", "all_proxy"] { setenv(name, proxy.url, 1) }
                    let answer = await own.post(message)
                    #expect(answer == .answered(status: 204))
                    #expect(proxy.connections == 0)
                }
            }
        }
    }

    @Test func `TLS works with a certificate that the file trusts, which is read for each post`() async throws {
        let (old, new) = (try TestIdentity(["localhost"]), try TestIdentity(["localhost"]))
        let link = FileManager.default.temporaryDirectory.appending(path: "webhook-tests-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: link) }
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: old.file)
        let client = try Self.client(trusting: link)
        try await Receiver.with(new.receiver) { receiver in
            let message = try Self.message("https://localhost:\(receiver.port)/")
            #expect(await client.post(message).unanswered?.contains("SSL") == true)
            #expect(try await Self.client().post(message).unanswered?.contains("SSL") == true)
            try FileManager.default.removeItem(atPath: link)
            try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: new.file)
            #expect(await client.post(message) == .answered(status: 204))
        }
    }

    @Test func `a certificate for another name is refused`() async throws {
        let identity = try TestIdentity(["elsewhere.example"])
        try await Receiver.with(identity.receiver) { receiver in
            let message = try Self.message("https://localhost:\(receiver.port)/")
            let answer = try await Self.client(trusting: identity.file).post(message)
            #expect(answer.unanswered?.contains("SSL") == true)
            #expect(receiver.requests.isEmpty)
        }
    }

    @Test func `a file without certificates is an error`() {
        #expect(throws: ExitError.self) { try Self.client(trusting: "/dev/null/nothing") }
    }
}

extension WebhookAnswer {
    fileprivate var unanswered: String? { if case .unanswered(let reason) = self { reason } else { nil } }
}

struct SignatureTests {
    /// The example in the reference libraries of the Standard Webhooks specification.
    @Test func `each secret gives the published example its published signature`() throws {
        let secret = try #require(WebhookSecret(rawValue: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"))
        let headers = WebhookClient.signatureHeaders(
            of: Array(#"{"test": 2432232314}"#.utf8), id: "msg_p5jXN8AQM9LWM0D4loKWxJek",
            at: Date(timeIntervalSince1970: 1_614_265_330), secrets: [secret, secret])
        let signature = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
        #expect(
            headers == [
                "webhook-id: msg_p5jXN8AQM9LWM0D4loKWxJek", "webhook-timestamp: 1614265330",
                "webhook-signature: \(signature) \(signature)",
            ])
    }
}
