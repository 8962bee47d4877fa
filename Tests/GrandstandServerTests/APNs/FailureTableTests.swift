internal import APNsSimulator
internal import APNsWire
internal import Grandstand
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
        try await ClientAndSimulator.with { pair in
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
            $0.overdueInterval = .milliseconds(300)
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
