internal import Foundation
internal import Grandstand
internal import GrandstandTestKit
internal import Testing

@testable internal import WebhookClient

/// Calendars fetched over a real socket.
@Suite(.timeLimit(.minutes(1)))
struct FetchTests {
    private static let file = Array(String(repeating: "uid,startsAt\r\n", count: 10_000).utf8)

    private static func fetch(
        _ receiver: Receiver, upTo limit: Int = 1_000_000, networks: String = "127.0.0.0/8",
        timeout: Duration = .seconds(20)
    ) async throws -> CalendarFetch {
        let client = try WebhookClient(
            settings: .init(
                networks: NetworkGuard(allowed: [networks].compactMap(IPNetwork.init), allowsPlainHTTP: true),
                timeout: timeout),
            now: { Date() })
        return await client.fetch(try #require(WebhookURL(rawValue: receiver.url + "/a.ics?t=1")), upTo: limit)
    }

    @Test func `a file is fetched whole`() async throws {
        try await Receiver.with(react: { _, _ in .file(Self.file) }) { receiver in
            #expect(try await Self.fetch(receiver) == .file(Self.file))
            let request = try #require(receiver.requests.first)
            #expect(request.method == "GET")
            #expect(request.target == "/a.ics?t=1")
            #expect(request.headers["accept"]?.contains("text/calendar") == true)
            #expect(request.body.isEmpty)
        }
    }

    @Test func `a file that is too large, or cut off, is none`() async throws {
        try await Receiver.with(
            react: { number, _ in .file(Self.file, claimed: number == 0 ? nil : Self.file.count + 1) }
        ) { receiver in
            for limit in [1_000, 1_000_000] {
                guard case .failed(let reason) = try await Self.fetch(receiver, upTo: limit) else {
                    Issue.record("a part was taken for a file")
                    return
                }
                #expect(reason.contains("cut off"))
            }
        }
    }

    @Test func `any answer but 200 says why there is no file`() async throws {
        try await Receiver.with(
            react: { number, _ in .answer(number == 0 ? 301 : 404, headers: ["location": "https://example.com"]) }
        ) { receiver in
            let redirect = try await Self.fetch(receiver)
            #expect(
                redirect
                    == .failed("HTTP 301: redirects are not followed; declare the address that it leads to"))
            #expect(try await Self.fetch(receiver) == .failed("HTTP 404"))
        }
    }

    @Test func `an address that must not be called is not, and silence ends`() async throws {
        try await Receiver.with(react: { _, _ in .silence }) { receiver in
            guard case .failed(let reason) = try await Self.fetch(receiver, networks: "192.0.2.0/24") else {
                Issue.record("the guard let it through")
                return
            }
            #expect(reason.contains("GRANDSTAND_WEBHOOK_NETWORKS"))
            #expect(receiver.connections == 0)
            #expect(
                try await Self.fetch(receiver, timeout: .milliseconds(300)) == .failed("no answer in time"))
        }
    }
}
