internal import APNsClient
internal import APNsSimulator
internal import APNsWire
internal import CoreMetrics
internal import Foundation
internal import Grandstand
internal import HTTP2
internal import MetricsTestKit
internal import Testing

/// What the client counts, as a metrics backend receives it.
@Suite(.timeLimit(.minutes(1)))
struct MetricsTests {
    @Test func `answers are counted by call, status and reason`() async throws {
        let metrics = TestMetrics()
        try await ClientAndSimulator.with(settings: { $0.metrics = metrics }) { pair in
            let channelID = try await pair.makeChannel()
            _ = try await pair.client.send(ClientAndSimulator.message(to: channelID), to: ClientAndSimulator.address)
                .value()
            pair.simulator.answerNext(with: .refusal(.tooManyRequests))
            _ = await pair.client.send(ClientAndSimulator.message(to: channelID), to: ClientAndSimulator.address)
            pair.simulator.answerNext(with: .refusal(.init(rawValue: "BrandNew"), status: 418))
            _ = await pair.client.send(ClientAndSimulator.message(to: channelID), to: ClientAndSimulator.address)
            for (call, status, reason) in [
                ("manage", "201", "none"), ("broadcast", "200", "none"), ("broadcast", "429", "TooManyRequests"),
                ("broadcast", "418", "other"),
            ] {
                let counter = try metrics.expectCounter(
                    "grandstand_apns_answers_total", [("call", call), ("status", status), ("reason", reason)])
                #expect(counter.totalValue == 1, "\(call) \(status) \(reason)")
            }
            #expect(try metrics.expectCounter("grandstand_apns_token_renewals_total").totalValue == 1)
        }
    }

    @Test func `waits, round trips, connections and token ages are recorded`() async throws {
        let metrics = TestMetrics()
        try await ClientAndSimulator.with(settings: { $0.metrics = metrics }) { pair in
            _ = try await pair.makeChannel()
            pair.client.recordGauges()
            let labels = [
                ("host", "127.0.0.1"), ("team", "SIMULATOR1"), ("key", "SIMULATOR1"), ("traffic", "channels"),
            ]
            #expect(try metrics.expectTimer("grandstand_apns_queue_wait_seconds", labels).values.count == 1)
            let trips = try metrics.expectTimer("grandstand_apns_round_trip_seconds", labels).values
            #expect(trips.count == 1)
            #expect(trips.allSatisfy { $0 > 0 && $0 < 60_000_000_000 })
            #expect(try metrics.expectMeter("grandstand_apns_connections", labels).values.last == 1)
            #expect(try metrics.expectMeter("grandstand_apns_streams_in_use", labels).values.count == 1)
            let age = try metrics.expectMeter("grandstand_apns_token_age_seconds", Array(labels[1...2])).values.last
            #expect(age.map { (0...600).contains($0) } == true)
        }
    }

    @Test func `replays and GOAWAYs are counted`() async throws {
        let metrics = TestMetrics()
        let arrivals = Tally()
        try await FaultServer.with(
            settings: { $0.metrics = metrics },
            answering: { _, stream in
                switch arrivals.add("all") {
                case 1: stream.accept()
                case 2:
                    stream.connection.goAway(
                        code: 0, debugData: Array(#"{"reason":"Shutdown"}"#.utf8), lastStream: stream.id - 2)
                default: stream.accept()
                }
            }
        ) { stage in
            #expect(await FaultServer.send(1, by: stage.client).receipt != nil)
            #expect(await FaultServer.send(2, by: stage.client).receipt != nil)
            let replays = try metrics.expectCounter("grandstand_apns_replays_total")
            #expect(replays.totalValue >= 1)
            let labels = [
                ("host", "127.0.0.1"), ("team", "SIMULATOR1"), ("key", "SIMULATOR1"), ("traffic", "channels"),
            ]
            let connects = try metrics.expectCounter("grandstand_apns_connects_total", labels + [("result", "ok")])
            #expect(connects.totalValue == Int64(stage.server.connectionsEver))
        }
    }
}
