internal import APNsSimulator
internal import APNsWire
internal import Foundation
internal import Grandstand
internal import Testing

@testable internal import APNsClient

/// The faults at which HTTP/2 clients lose requests. The simulator makes these faults under load.
/// docs/internals/http2.md has the table of the faults.
@Suite(.timeLimit(.minutes(2)))
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
                        switch await pair.client.send(message, to: ClientAndSimulator.address) {
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

    /// How often each message was processed.
    private static func processed(_ pair: ClientAndSimulator) -> [Int] {
        let entries = pair.simulator.journal().filter { $0.operation == .broadcast && $0.status == 200 }
        return Dictionary(grouping: entries) { $0.request[header: "apns-request-id"] }.values.map(\.count)
    }

    @Test(arguments: [
        #"{"match": {"operation": "broadcast", "nth": 1}, "action": "settings", "maximumStreams": 1000}"#,
        #"{"match": {"operation": "broadcast", "every": 250}, "action": "goAway", "manner": "clean"}"#,
        #"{"match": {"operation": "broadcast", "every": 250}, "action": "goAway", "manner": "rolling"}"#,
        #"{"match": {"operation": "broadcast", "every": 250}, "action": "goAway", "manner": "mid"}"#,
        #"{"match": {"operation": "broadcast", "nth": 300}, "action": "settings", "maximumStreams": 1}"#,
    ])
    func `only requests that were not processed are repeated at once`(_ fault: String) async throws {
        try await ClientAndSimulator.with(settings: Self.patient) { pair in
            let channelID = try await pair.makeChannel()
            try pair.simulator.addFaults(#"{"faults": [\#(fault)]}"#)
            #expect(await Self.deliver(pair, to: channelID) == [:])
            #expect(Self.processed(pair) == Array(repeating: 1, count: Self.count))
            #expect(pair.simulator.journal().contains { $0.fault != nil })
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
        try await ClientAndSimulator.with(settings: { $0.requestTimeout = .seconds(2) }) { pair in
            let channelID = try await pair.makeChannel()
            try pair.simulator.addFaults(#"{"faults": [\#(fault)]}"#)
            let others = await Self.deliver(pair, to: channelID)
            #expect(Set(others.keys) == ["unanswered"], "\(others)")
            let processed = Self.processed(pair)
            #expect(processed.count == Self.count)
            // Only messages whose first attempt had no known result were processed twice.
            #expect(processed.reduce(0) { $0 + $1 - 1 } <= others["unanswered"] ?? 0)
        }
    }

    @Test func `many refused streams cost no request and no connection`() async throws {
        try await ClientAndSimulator.with(settings: Self.oneConnection) { pair in
            let channelID = try await pair.makeChannel()
            try pair.simulator.addFaults(
                #"{"faults": [{"match": {"operation": "broadcast", "every": 10}, "action": "refuseStream"}]}"#)
            #expect(await Self.deliver(pair, to: channelID, count: 3_000) == [:])
            #expect(Self.processed(pair) == Array(repeating: 1, count: 3_000))
            #expect(pair.simulator.journal().count { $0.fault != nil } >= 300)
            #expect(Self.connections(pair) == 1)
        }
    }

    @Test func `after limits of 1,000, 1 and 1,000 streams nothing is lost, and the connection stays open`()
        async throws
    {
        try await ClientAndSimulator.with(settings: Self.oneConnection) { pair in
            let channelID = try await pair.makeChannel()
            let steps = [(250, 1), (350, 1_000), (600, 1), (700, 1_000)].map { nth, streams in
                #"{"match": {"operation": "broadcast", "nth": \#(nth)}, "action": "settings", "maximumStreams": \#(streams)}"#
            }
            try pair.simulator.addFaults(#"{"faults": [\#(steps.joined(separator: ", "))]}"#)
            #expect(await Self.deliver(pair, to: channelID) == [:])
            #expect(Self.processed(pair) == Array(repeating: 1, count: Self.count))
            #expect(pair.simulator.journal().count { $0.fault != nil } == steps.count)
            #expect(Self.connections(pair) == 1)
        }
    }

    @Test func `with one stream, slow answers and a hundred waiting requests no call times out`() async throws {
        try await ClientAndSimulator.with(settings: Self.oneConnection) { pair in
            let channelID = try await pair.makeChannel()
            try pair.simulator.addFaults(
                #"""
                {"faults": [
                    {"match": {"operation": "broadcast", "nth": 1}, "action": "settings", "maximumStreams": 1},
                    {"match": {"operation": "broadcast"}, "action": "delay", "seconds": 0.01}
                ]}
                """#)
            #expect(await Self.deliver(pair, to: channelID, count: 100) == [:])
            #expect(Self.processed(pair) == Array(repeating: 1, count: 100))
        }
    }

    @Test func `a peer that answers nothing, not even a PING, is replaced by another connection`() async throws {
        try await ClientAndSimulator.with(settings: {
            $0.requestTimeout = .seconds(30)
            $0.overdueInterval = .milliseconds(300)
            $0.pingTimeout = .milliseconds(300)
        }) { pair in
            let channelID = try await pair.makeChannel()
            // After the 300th broadcast, the simulator reads nothing from the connection of this broadcast for an hour.
            // The socket stays open.
            try pair.simulator.addFaults(
                #"{"faults": [{"match": {"operation": "broadcast", "nth": 300}, "action": "slowReads", "seconds": 3600}]}"#
            )
            let clock = ContinuousClock()
            let start = clock.now
            let others = await Self.deliver(pair, to: channelID)
            // The silence is noticed long before the requests' own timeout.
            #expect(clock.now - start < .seconds(20))
            #expect(Set(others.keys).isSubset(of: ["unanswered"]), "\(others)")
            let processed = Self.processed(pair)
            #expect(processed.count == Self.count)
            #expect(processed.reduce(0) { $0 + $1 - 1 } <= others["unanswered"] ?? 0)
            #expect(Self.connections(pair) >= 2)
        }
    }

    /// Sets long timeouts, because the machine may be busy. They fit peers that answer every request in the end.
    private static func patient(_ settings: inout APNsClient.Settings) {
        settings.requestTimeout = .seconds(60)
        settings.overdueInterval = .seconds(30)
        settings.pingTimeout = .seconds(30)
    }

    private static func oneConnection(_ settings: inout APNsClient.Settings) {
        patient(&settings)
        settings.connections = 1
        settings.maximumConnections = 1
    }

    /// The number of connections that had requests.
    private static func connections(_ pair: ClientAndSimulator) -> Int {
        Set(pair.simulator.journal().map(\.request.connection)).count
    }
}
