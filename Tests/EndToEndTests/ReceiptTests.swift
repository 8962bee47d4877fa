internal import APNsSimulator
internal import APNsWire
internal import Foundation
internal import Grandstand
internal import GrandstandClient
internal import GrandstandTestKit
internal import JSON
internal import MatchDriver
internal import Testing

/// Receipts of phones that read the stamp in the content: the report agrees with what the phones showed.
@Suite(.timeLimit(.minutes(5)))
struct ReceiptTests {
    private static let type = #"""
        {"versions": [{"name": "1.0", "schema": {}}], "stamp": {"member": "/at", "as": "unix"},
         "rules": {"rings": [{"when": {"increases": "/home"}, "alert": {"title": "Goal"}}]}}
        """#

    /// A message as the simulator got it.
    private struct Message {
        let stamp: Int
        let arrivedAt: Date
        let acceptedAt: Date
    }

    @Test func `percentiles of receipts match the phones' delays, even with paced, superseded or repeated messages`()
        async throws
    {
        let settings = ["GRANDSTAND_RECEIPT_SHARE": "1", "GRANDSTAND_LANE_INTERVAL": "0.05"]
        try await Stage.with(settings: settings) { stage in
            try await stage.putLiveEvent()
            let type = try await stage.api("PUT", "/v1/apps/\(Stage.bundleID)/contents/MatchAttributes", Self.type)
            try #require(type.status == 201, "\(type.text)")
            let messages = try await Self.play(stage)
            try #require(messages.count > 3)
            var random = SplitMix(seed: 38)
            let app = try await stage.caller([.device], app: Stage.bundleID)
            var shown: [Int: [Double]] = [:]
            var phones: [(fan: Fan, clock: Double, items: String)] = []
            for number in 0..<100 {
                let fan = try Fan("phone \(number)", "18.4", in: .development, stage.simulator)
                // The phone's clock is up to four minutes off.
                let clock = Double(random.next(below: 480_000)) / 1_000 - 240
                var items: [String] = []
                for message in messages where random.next(below: 5) > 0 {
                    let delay = pow(10, Double(random.next(below: 4_000)) / 1_000 - 2)
                    let at = message.arrivedAt.addingTimeInterval(delay)
                    shown[message.stamp, default: []].append(at.timeIntervalSince(message.acceptedAt))
                    items.append(
                        #"{"eventKey": "derby", "timestamp": \#(message.stamp), "shownAt": "\#(RFC3339.text(at.addingTimeInterval(clock)))"}"#
                    )
                }
                guard !items.isEmpty else { continue }
                phones.append((fan, clock, items.joined(separator: ",")))
            }
            try await forEach(phones, atMost: 8) { fan, clock, items in
                try await fan.register(app)
                // A repeated report counts only once.
                for _ in 0..<2 {
                    let sentAt = RFC3339.text(Date().addingTimeInterval(clock))
                    let body = #"{"sentAt": "\#(sentAt)", "items": [\#(items)]}"#
                    let answer = try await fan.call(app, "POST", "/receipts", body)
                    try #require(answer.status == 200, "\(answer.text)")
                }
            }
            let audience = try #require(
                try await stage.api("GET", "/v1/events/derby/receipts").json["audiences"]?[0])
            let reported = audience["messages"]?.items ?? []
            #expect(reported.compactMap { $0["timestamp"]?.int } == messages.map(\.stamp))
            for message in reported {
                let times = (shown[message["timestamp"]?.int ?? 0] ?? []).sorted()
                #expect(message["shown"]?.int == times.count)
                for (name, percent) in [("p50", 50), ("p99", 99)] {
                    let own = times[(times.count * percent + 99) / 100 - 1]
                    let value = try #require(message["seconds"]?[name]?.number)
                    #expect(abs(value - own) < 1, "\(name) of \(message): \(own)")
                }
            }
        }
    }

    /// Puts states as fast as possible, each state twice. The lane's interval lets fewer states through.
    ///
    /// - Returns: what the simulator got.
    private static func play(_ stage: Stage) async throws -> [Message] {
        for number in 0..<60 {
            let state = #"{"contentState": {"home": \#(number / 10), "n": \#(number)}, "sequence": \#(number)}"#
            for _ in 0..<2 {
                let answer = try await stage.api("PUT", "/v1/events/derby/state", state)
                try #require([200, 202].contains(answer.status), "\(answer.text)")
            }
        }
        let broadcasts = try await stage.api("GET", "/v1/events/derby/broadcasts?limit=200").json["items"]?.items ?? []
        #expect(broadcasts.count == 60)
        var acceptedAt: [Int: Date] = [:]
        var states: Set<String> = []
        for broadcast in broadcasts {
            let delivery = try await stage.settled(try #require(broadcast["id"]?.string))["deliveries"]?[0]
            states.insert(delivery?["state"]?.string ?? "")
            guard let timestamp = delivery?["timestamp"]?.int else { continue }
            acceptedAt[timestamp] = broadcast["acceptedAt"]?.string.flatMap(RFC3339.date)
        }
        #expect(states == ["accepted", "superseded"])
        return try stage.simulator.journal().filter { $0.request.isBroadcast && $0.status == 200 }.map { entry in
            let aps = entry.request.json["aps"]
            let stamp = try #require(aps?["content-state"]?["at"]?.int)
            #expect(stamp == aps?["timestamp"]?.int)
            return Message(
                stamp: stamp, arrivedAt: entry.time, acceptedAt: try #require(acceptedAt[stamp]))
        }
    }
}
