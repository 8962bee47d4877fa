internal import APNsClient
internal import APNsSimulator
internal import APNsWire
internal import Foundation
internal import Grandstand
internal import MetricsTestKit
internal import Testing

/// Pushes to single devices as APNs receives them, and APNs' answers.
@Suite(.timeLimit(.minutes(1)))
struct DevicePushTests {
    private static func push(
        to token: DeviceToken, priority: APNsPriority = .immediate, requestID: UUID = UUID()
    ) -> DevicePush {
        DevicePush(
            token: token,
            body: StartPayload(
                attributesType: "Match", attributes: Array(#"{"id":7}"#.utf8),
                contentState: Array(#"{"a":1.50e3}"#.utf8),
                alert: Array(#"{"title":"Kick-off","body":"Now"}"#.utf8)
            ).body(timestamp: Int(Date().timeIntervalSince1970), input: .token),
            priority: priority, expiration: Int(Date().timeIntervalSince1970) + 60, requestID: requestID)
    }

    @Test func `priority 1 is only for channels, so a push to a token is sent with 5`() async throws {
        try await ClientAndSimulator.with { pair in
            try pair.simulator.setQuirk("unknown-device", to: "accepted")
            _ = try await pair.client.push(
                Self.push(to: Self.nobody, priority: .lowest), to: ClientAndSimulator.address
            ).value()
            #expect(try #require(pair.simulator.journal().first).request[header: "apns-priority"] == "5")
        }
    }

    private static let nobody = DeviceToken(bytes: Array(1...80)) ?? { preconditionFailure("a token") }()

    @Test func `a push has its headers and its body unchanged`() async throws {
        try await ClientAndSimulator.with { pair in
            try pair.simulator.setQuirk("unknown-device", to: "accepted")
            let push = Self.push(to: Self.nobody)
            _ = try await pair.client.push(push, to: ClientAndSimulator.address).value()
            let request = try #require(pair.simulator.journal().first).request
            #expect(request.method == "POST")
            #expect(request.path == "/3/device/" + Self.nobody.hex)
            #expect(request[header: "apns-topic"] == "com.example.Stadium.push-type.liveactivity")
            #expect(request[header: "apns-push-type"] == "liveactivity")
            #expect(request[header: "apns-priority"] == "10")
            #expect(request[header: "apns-expiration"] == String(push.expiration))
            #expect(request[header: "apns-id"] == push.requestID.uuidString.lowercased())
            #expect(request.body == push.body)
        }
    }

    @Test func `an unknown token is refused with APNs' reason`() async throws {
        try await ClientAndSimulator.with { pair in
            let refusal = await pair.client.push(Self.push(to: Self.nobody), to: ClientAndSimulator.address).refusal
            #expect(refusal?.reason == .badDeviceToken)
            #expect(refusal?.since == nil)
        }
    }

    @Test func `answers about tokens are counted by app, and other answers are not`() async throws {
        let metrics = TestMetrics()
        try await ClientAndSimulator.with(settings: { $0.metrics = metrics }) { pair in
            _ = await pair.client.push(Self.push(to: Self.nobody), to: ClientAndSimulator.address)
            try pair.simulator.setQuirk("unknown-device", to: "accepted")
            for _ in 0..<2 { _ = await pair.client.push(Self.push(to: Self.nobody), to: ClientAndSimulator.address) }
            pair.simulator.answerNext(with: .refusal(.tooManyRequests))
            _ = await pair.client.push(Self.push(to: Self.nobody), to: ClientAndSimulator.address)
            func count(_ result: String) throws -> Int64 {
                try metrics.expectCounter(
                    "grandstand_token_answers_total",
                    [
                        ("bundle_id", ClientAndSimulator.address.bundleID.rawValue),
                        ("environment", ClientAndSimulator.address.environment.rawValue), ("result", result),
                    ]
                ).totalValue
            }
            #expect(try count("BadDeviceToken") == 1)
            #expect(try count("accepted") == 2)
            #expect(throws: (any Error).self) { try count("TooManyRequests") }
        }
    }

    @Test func `pushes have their own connections`() async throws {
        let metrics = TestMetrics()
        try await ClientAndSimulator.with(settings: { $0.metrics = metrics }) { pair in
            _ = try await pair.makeChannel()
            _ = await pair.client.push(Self.push(to: Self.nobody), to: ClientAndSimulator.address)
            pair.client.recordGauges()
            for traffic in ["channels", "devices"] {
                let labels = [
                    ("host", "127.0.0.1"), ("team", "SIMULATOR1"), ("key", "SIMULATOR1"), ("traffic", traffic),
                ]
                #expect(try metrics.expectMeter("grandstand_apns_connections", labels).values.last == 1)
            }
        }
    }
}
