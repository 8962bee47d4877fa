internal import APNsSimulator
internal import APNsWire
internal import Foundation
internal import Grandstand
internal import GrandstandTestKit
internal import Testing

@testable internal import GrandstandServer

/// Random faults of the simulator at full rate. `.ci/run` runs this test for a few seconds.
/// `GRANDSTAND_SOAK_SECONDS=600` runs it for ten minutes, and `GRANDSTAND_SOAK_SEED` repeats the faults of a run.
@Suite(.timeLimit(.minutes(20)))
struct SoakTests {
    private static let seconds = ProcessInfo.processInfo.environment["GRANDSTAND_SOAK_SECONDS"].flatMap(Int.init) ?? 3
    private static let seed =
        ProcessInfo.processInfo.environment["GRANDSTAND_SOAK_SEED"].flatMap(UInt64.init)
        ?? UInt64.random(in: 0...(1 << 52))

    /// The faults of a broadcast, with their frequency in a million, in the order in which the simulator draws them.
    private static let faults: [(perMillion: Int, members: String)] = [
        (20_000, #""action": "refuseStream""#),
        (5_000, #""action": "reset""#),
        (2_000, #""action": "silence""#),
        (1_000, #""action": "lose""#),
        (1_000, #""action": "lose", "by": "reset""#),
        (5_000, #""action": "delay", "seconds": 0.05"#),
        (5_000, #""action": "refuse", "reason": "TooManyRequests""#),
        (5_000, #""action": "refuse", "reason": "InternalServerError""#),
        (5_000, #""action": "refuse", "reason": "Shutdown""#),
        (2_500, #""action": "refuse", "reason": "ServiceUnavailable""#),
        (2_500, #""action": "refuse", "reason": "Service Unavailable", "status": 503"#),
        (5_000, #""action": "refuse", "reason": "BadChannelId""#),
        (1_000, #""action": "goAway", "manner": "clean""#),
        (500, #""action": "goAway", "manner": "mid""#),
        (200, #""action": "goAway", "manner": "rolling""#),
        (1_000, #""action": "cut""#),
        (500, #""action": "settings", "maximumStreams": 1"#),
        (5_000, #""action": "settings", "maximumStreams": 1000"#),
        (50, #""action": "slowReads", "seconds": 3"#),
    ]

    private static var script: String {
        let faults = faults.map { perMillion, members in
            let rate = Double(perMillion) / 1e6
            return #"{"match": {"operation": "broadcast", "rate": \#(rate)}, \#(members)}"#
        }
        return #"{"seed": \#(seed), "faults": [\#(faults.joined(separator: ", "))]}"#
    }

    @Test func `under random faults every message gets one result, and nothing is left in memory`() async throws {
        print("soak: \(Self.seconds) s, GRANDSTAND_SOAK_SEED=\(Self.seed)")
        let metrics = ServerMetrics()
        try await ClientAndSimulator.with(
            settings: {
                $0.metrics = metrics
                $0.requestTimeout = .seconds(1)
                $0.pingAfter = .milliseconds(400)
                $0.pingTimeout = .milliseconds(400)
            },
            options: { $0.journalCapacity = 3 * Self.perRound }
        ) { pair in
            var made: String?
            while made == nil { made = try? await pair.makeChannel() }
            let channelID = try #require(made)
            try pair.simulator.addFaults(Self.script)
            let ends = Tally()
            let clock = ContinuousClock()
            let deadline = clock.now + .seconds(Self.seconds)
            var warm: Int?
            // Messages are sent in batches. Between two batches nothing is in flight, so whatever is still held then is
            // a leak.
            var batch = 0
            while clock.now < deadline {
                let unanswered = ends["unanswered"]
                await Self.round(batch, by: pair.client, to: channelID, into: ends)
                // Only messages that were unanswered may have been sent twice.
                #expect(pair.processed.count { $0 > 1 } <= ends["unanswered"] - unanswered, "batch \(batch)")
                pair.simulator.clearJournal()
                batch += 1
                if batch == 3 { warm = Self.residentMegabytes }
            }
            let sent = batch * Self.perRound
            #expect(ends["accepted"] + ends["rejected"] + ends["expired"] == sent, "\(ends.all)")
            try await until("no stream is in use") {
                pair.client.recordGauges()
                return String(decoding: metrics.exposition(), as: UTF8.self)
                    .matches(of: /\ngrandstand_apns_streams_in_use\{.*\} (.+)/).map { $0.1 } == ["0"]
            }
            if let warm { #expect(Self.residentMegabytes < warm + 48, "memory grows: \(warm) MB at first") }
            print(
                "soak: \(sent) messages, \(ends.all), \(warm ?? 0) MB resident at first, \(Self.residentMegabytes) at last"
            )
        }
    }

    /// The number of messages in a round. In a long run it is large, because at the end of each round a few messages
    /// still have to time out.
    private static let perRound = seconds < 60 ? 2_000 : 10_000

    /// Sends messages until each is accepted, rejected or expired, as a dispatcher does: 150 at a time.
    private static func round(_ round: Int, by client: APNsClient, to channelID: String, into ends: Tally) async {
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<perRound {
                if number >= 150 { await group.next() }
                // One in ten messages expires after half a second, so that some faults last longer than the message is
                // valid.
                let life = number.isMultiple(of: 10) ? 0.5 : 3_600
                group.addTask { await deliver(by: client, to: channelID, life: life, into: ends) }
            }
        }
    }

    /// Judges each answer as the dispatcher does, but repeats without a pause.
    private static func deliver(by client: APNsClient, to channelID: String, life: Double, into ends: Tally) async {
        let message = ClientAndSimulator.message(to: channelID)
        let expiresAt = Date() + life
        var attempts = 0
        while true {
            attempts += 1
            let answer = await client.send(message)
            if answer.isUnanswered { ends.add("unanswered") }
            switch Verdict(answer, attempts: attempts, expiresAt: expiresAt, now: Date(), jitter: 0) {
            case .accepted: return ends.add("accepted")
            case .rejected, .channelDoubted: return ends.add("rejected")
            case .expired: return ends.add("expired")
            case .retry, .throttled: continue
            }
        }
    }

    private static var residentMegabytes: Int {
        let pages = try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8).split(separator: " ")[1]
        return (pages.flatMap { Int($0) } ?? 0) * 4_096 / 1_048_576
    }
}
