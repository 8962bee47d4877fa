internal import APNsSimulator
internal import APNsWire
internal import Foundation
internal import Grandstand
internal import Testing

@testable internal import GrandstandServer

/// Pushes to single devices as APNs receives them, and APNs' answers.
@Suite(.timeLimit(.minutes(20)))
struct DevicePushTests {
    private static let nobody = DeviceToken(bytes: Array(1...80)) ?? { preconditionFailure("a token") }()

    private static func push(_ priority: APNsPriority = .immediate) -> DevicePush {
        let now = Int(Date().timeIntervalSince1970)
        return DevicePush(
            token: nobody,
            body: BroadcastPayload(
                event: .start, contentState: Array(#"{"a":1.50e3}"#.utf8),
                alert: Array(#"{"title":"Kick-off","body":"Now"}"#.utf8),
                start: .init(
                    attributesType: Array(#""Match""#.utf8), attributes: Array(#"{"id":7}"#.utf8), input: .token)
            ).body(timestamp: now),
            priority: priority, expiration: now + 60, requestID: UUID(), collapseID: "start-7")
    }

    /// Priority 1 is only for channels, so it becomes 5.
    @Test(arguments: [(APNsPriority.immediate, "10"), (.lowest, "5")])
    func `a push has its own connection, its headers and its body unchanged`(priority: APNsPriority, sent: String)
        async throws
    {
        try await ClientAndSimulator.with { pair in
            try pair.simulator.setQuirk("unknown-device", to: "accepted")
            _ = try await pair.makeChannel()
            let push = Self.push(priority)
            _ = try await pair.client.push(push, to: ClientAndSimulator.address).value()
            let request = try #require(pair.simulator.journal().last).request
            #expect(request.method == "POST")
            #expect(request.path == "/3/device/" + Self.nobody.hex)
            #expect(request[header: "apns-topic"] == "com.example.Stadium.push-type.liveactivity")
            #expect(request[header: "apns-push-type"] == "liveactivity")
            #expect(request[header: "apns-priority"] == sent)
            #expect(request[header: "apns-expiration"] == String(push.expiration))
            #expect(request[header: "apns-collapse-id"] == "start-7")
            #expect(request[header: "apns-id"] == push.requestID.uuidString.lowercased())
            #expect(request.body == push.body)
            #expect(pair.connections.count == 2)
        }
    }

    @Test func `answers about tokens are counted by app, and other answers are not`() async throws {
        let metrics = ServerMetrics()
        try await ClientAndSimulator.with(settings: { $0.metrics = metrics }) { pair in
            func push() async -> APNsAnswer<Void> {
                await pair.client.push(Self.push(), to: ClientAndSimulator.address)
            }
            #expect(await push().refusal?.reason == .badDeviceToken)
            try pair.simulator.setQuirk("unknown-device", to: "accepted")
            for _ in 0..<2 { _ = await push() }
            try pair.refuse(.tooManyRequests)
            _ = await push()
            func count(_ result: String) -> Double {
                metrics.series(
                    "grandstand_token_answers_total",
                    [("bundle_id", "com.example.Stadium"), ("environment", "development"), ("result", result)]
                ).value
            }
            #expect(count("BadDeviceToken") == 1)
            #expect(count("accepted") == 2)
            #expect(count("TooManyRequests") == 0)
        }
    }
}
