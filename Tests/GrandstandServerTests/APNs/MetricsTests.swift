internal import APNsSimulator
internal import APNsWire
internal import Foundation
internal import Grandstand
internal import GrandstandTestKit
internal import HTTP2
internal import Testing

@testable internal import GrandstandServer

/// What the client counts, as the metrics have it.
@Suite(.timeLimit(.minutes(20)))
struct MetricsTests {
    private static let labels = [
        ("host", "127.0.0.1"), ("team", "SIMULATOR1"), ("key", "SIMULATOR1"), ("traffic", "channels"),
    ]

    @Test func `answers are counted by call, status and reason`() async throws {
        let metrics = ServerMetrics()
        try await ClientAndSimulator.with(settings: { $0.metrics = metrics }) { pair in
            let message = ClientAndSimulator.message(to: try await pair.makeChannel())
            _ = try await pair.client.send(message).value()
            try pair.refuse(.tooManyRequests)
            _ = await pair.client.send(message)
            try pair.simulator.addFaults(
                #"{"faults": [{"action": "refuse", "reason": "BrandNew", "status": 418, "times": 1}]}"#)
            _ = await pair.client.send(message)
            for (call, status, reason) in [
                ("manage", "201", "none"), ("broadcast", "200", "none"), ("broadcast", "429", "TooManyRequests"),
                ("broadcast", "418", "other"),
            ] {
                let counter = metrics.series(
                    "grandstand_apns_answers_total", [("call", call), ("status", status), ("reason", reason)])
                #expect(counter.value == 1, "\(call) \(status) \(reason)")
            }
            #expect(metrics.series("grandstand_apns_token_renewals_total").value == 1)
        }
    }

    @Test func `waits, round trips, connections and token ages are recorded`() async throws {
        let metrics = ServerMetrics()
        // A token's time of issue is a multiple of 40 minutes.
        let slot = (Date().timeIntervalSince1970 / 2_400).rounded(.down) * 2_400
        let clock = ManualClock(Date(timeIntervalSince1970: slot - 2_300))
        try await ClientAndSimulator.with(
            settings: { $0.metrics = metrics }, options: { $0.now = { clock.now } }, now: { clock.now }
        ) { pair in
            _ = try await pair.makeChannel()
            pair.client.recordGauges()
            #expect(metrics.series("grandstand_apns_queue_wait_seconds", Self.labels).count == 1)
            let trips = metrics.series("grandstand_apns_round_trip_seconds", Self.labels)
            #expect(trips.count == 1 && trips.value > 0)
            #expect(metrics.series("grandstand_apns_connections", Self.labels).value == 1)
            #expect(metrics.series("grandstand_apns_token_age_seconds", Array(Self.labels[1...2])).value == 100)
        }
    }

    @Test func `connections, replays and GOAWAYs are counted`() async throws {
        let metrics = ServerMetrics()
        try await ClientAndSimulator.with(settings: {
            ClientAndSimulator.oneConnection(&$0)
            $0.metrics = metrics
        }) { pair in
            let message = ClientAndSimulator.message(to: try await pair.makeChannel())
            try pair.simulator.addFaults(#"{"faults": [{"action": "goAway", "manner": "mid", "times": 1}]}"#)
            _ = try await pair.client.send(message).value()
            #expect(metrics.series("grandstand_apns_replays_total").value >= 1)
            let connects = Self.labels + [("result", "ok")]
            #expect(metrics.series("grandstand_apns_connects_total", connects).value == 2)
            // It is counted when the old connection has ended, which may be a little later.
            let reason = Self.labels + [("reason", "Shutdown")]
            while metrics.series("grandstand_apns_goaways_total", reason).value != 1 {
                await Task.yield()
            }
        }
    }
}
