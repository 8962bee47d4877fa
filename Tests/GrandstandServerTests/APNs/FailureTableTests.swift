internal import APNsSimulator
internal import APNsWire
internal import Foundation
internal import Grandstand
internal import GrandstandTestKit
internal import HTTP2
internal import Testing

@testable internal import GrandstandServer

/// The faults at which HTTP/2 clients lose requests. The simulator makes these faults under load.
/// docs/internals/http2.md has the table of the faults.
@Suite(.timeLimit(.minutes(20)))
struct FailureTableTests {
    private static let count = 1_000

    /// Sends messages until each is accepted, as a dispatcher does.
    ///
    /// - Parameter atOnce: the number of messages at the same time. With 100, a fault of every tenth request would hit
    ///   the same messages again and again, until they were given up after ten attempts.
    /// - Returns: the number of answers other than `accepted`, by kind.
    private static func deliver(
        _ pair: ClientAndSimulator, to channelID: String, count: Int = count, atOnce: Int = 97
    ) async -> [String: Int] {
        let others = Tally()
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<count {
                if number >= atOnce { await group.next() }
                group.addTask {
                    let message = ClientAndSimulator.message(to: channelID)
                    while true {
                        switch await pair.client.send(message) {
                        case .accepted: return
                        case .refused(let refusal): others.add("refused \(refusal.reason.rawValue)")
                        case .unanswered: others.add("unanswered")
                        case .unsent(let why), .withheld(let why): others.add("unsent \(why)")
                        }
                    }
                }
            }
        }
        return others.all
    }

    @Test(arguments: [
        #"{"match": {"operation": "broadcast", "nth": 1}, "action": "settings", "maximumStreams": 1000}"#,
        #"{"match": {"operation": "broadcast", "every": 250}, "action": "goAway", "manner": "clean"}"#,
        #"{"match": {"operation": "broadcast", "every": 250}, "action": "goAway", "manner": "rolling"}"#,
        #"{"match": {"operation": "broadcast", "every": 250}, "action": "goAway", "manner": "mid"}"#,
        #"{"match": {"operation": "broadcast", "nth": 300}, "action": "settings", "maximumStreams": 1}"#,
    ])
    func `only requests that were not processed are repeated at once`(_ fault: String) async throws {
        // Providers' tokens change every 40 minutes.
        let now = Date()
        try await ClientAndSimulator.with(options: { $0.now = { now } }, now: { now }) { pair in
            let channelID = try await pair.makeChannel()
            try pair.simulator.addFaults(#"{"faults": [\#(fault)]}"#)
            #expect(await Self.deliver(pair, to: channelID) == [:])
            #expect(pair.processed == Array(repeating: 1, count: Self.count))
            #expect(pair.simulator.journal().contains { $0.fault != nil })
            #expect(Set(pair.simulator.journal().map { $0.request[header: "authorization"] }).count == 1)
        }
    }

    @Test(arguments: [
        #"{"match": {"operation": "broadcast", "every": 250}, "action": "cut"}"#,
        #"{"match": {"operation": "broadcast", "every": 250}, "action": "reset"}"#,
        #"{"match": {"operation": "broadcast", "every": 250}, "action": "silence"}"#,
    ])
    func `requests that may have been processed are unanswered, and all others are accepted`(_ fault: String)
        async throws
    {
        try await ClientAndSimulator.with(settings: { $0.requestTimeout = .seconds(10) }) { pair in
            let channelID = try await pair.makeChannel()
            try pair.simulator.addFaults(#"{"faults": [\#(fault)]}"#)
            let others = await Self.deliver(pair, to: channelID)
            #expect(Set(others.keys) == ["unanswered"], "\(others)")
            let processed = pair.processed
            #expect(processed.count == Self.count)
            // Only messages whose first attempt had no known result were processed twice.
            #expect(processed.reduce(0) { $0 + $1 - 1 } <= others["unanswered"] ?? 0)
        }
    }

    private static let refusals =
        #"{"match": {"operation": "broadcast", "every": 10}, "action": "refuseStream"}"#
    private static let limits = [(250, 1), (350, 1_000), (600, 1), (700, 1_000)].map { nth, streams in
        #"{"match": {"operation": "broadcast", "nth": \#(nth)}, "action": "settings", "maximumStreams": \#(streams)}"#
    }.joined(separator: ", ")

    @Test(arguments: [(refusals, 3_000, 300), (limits, 1_000, 4)])
    func `refused streams, and limits of 1,000, 1 and 1,000 streams, cost no request and no connection`(
        faults: String, count: Int, acting: Int
    ) async throws {
        try await ClientAndSimulator.with(settings: ClientAndSimulator.oneConnection) { pair in
            let channelID = try await pair.makeChannel()
            try pair.simulator.addFaults(#"{"faults": [\#(faults)]}"#)
            #expect(await Self.deliver(pair, to: channelID, count: count) == [:])
            #expect(pair.processed == Array(repeating: 1, count: count))
            #expect(pair.simulator.journal().count { $0.fault != nil } >= acting)
            #expect(pair.connections.count == 1)
        }
    }

    @Test func `a peer that answers nothing, not even a PING, is replaced by another connection`() async throws {
        try await ClientAndSimulator.with(settings: {
            $0.requestTimeout = .seconds(3_600)
            $0.pingAfter = .milliseconds(300)
            $0.pingTimeout = .milliseconds(300)
        }) { pair in
            let channelID = try await pair.makeChannel()
            // After the 300th broadcast, the simulator reads nothing from the connection of this broadcast for an hour.
            // The socket stays open.
            try pair.simulator.addFaults(
                #"{"faults": [{"match": {"operation": "broadcast", "nth": 300}, "action": "slowReads", "seconds": 3600}]}"#
            )
            // If the silence were not noticed, the messages would wait for their own timeout, an hour.
            let others = await Self.deliver(pair, to: channelID)
            #expect(Set(others.keys).isSubset(of: ["unanswered"]), "\(others)")
            let processed = pair.processed
            #expect(processed.count == Self.count)
            #expect(processed.reduce(0) { $0 + $1 - 1 } <= others["unanswered"] ?? 0)
            #expect(pair.connections.count >= 2)
        }
    }
}

/// What the client counts, as the metrics have it.
@Suite(.timeLimit(.minutes(20)))
struct MetricsTests {
    @Test func `connections, waits, token ages and answers by call, status and reason are counted`() async throws {
        let metrics = ServerMetrics()
        // Host, team, key and traffic.
        let labels = ["127.0.0.1", "SIMULATOR1", "SIMULATOR1", "channels"]
        // A token's time of issue is a multiple of 40 minutes.
        let slot = (Date().timeIntervalSince1970 / 2_400).rounded(.down) * 2_400
        let clock = ManualClock(Date(timeIntervalSince1970: slot - 2_300))
        try await ClientAndSimulator.with(
            settings: {
                ClientAndSimulator.oneConnection(&$0)
                $0.metrics = metrics
            },
            options: { $0.now = { clock.now } }, now: { clock.now }
        ) { pair in
            let message = ClientAndSimulator.message(to: try await pair.makeChannel())
            pair.client.recordGauges()
            #expect(metrics.series("grandstand_apns_queue_wait_seconds", labels).count == 1)
            let trips = metrics.series("grandstand_apns_round_trip_seconds", labels)
            #expect(trips.count == 1 && trips.value > 0)
            #expect(metrics.series("grandstand_apns_connections", labels).value == 1)
            #expect(metrics.series("grandstand_apns_token_age_seconds", Array(labels[1...2])).value == 100)

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
                let counter = metrics.series("grandstand_apns_answers_total", [call, status, reason])
                #expect(counter.value == 1, "\(call) \(status) \(reason)")
            }
            #expect(metrics.series("grandstand_apns_token_renewals_total").value == 1)

            try pair.simulator.addFaults(#"{"faults": [{"action": "goAway", "manner": "mid", "times": 1}]}"#)
            _ = try await pair.client.send(message).value()
            #expect(metrics.series("grandstand_apns_replays_total").value >= 1)
            #expect(metrics.series("grandstand_apns_connects_total", labels + ["ok"]).value == 2)
            // It is counted when the old connection has ended, which may be a little later.
            let reason = labels + ["Shutdown"]
            while metrics.series("grandstand_apns_goaways_total", reason).value != 1 {
                await Task.yield()
            }
        }
    }
}
