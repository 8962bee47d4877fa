internal import APNsSimulator
internal import APNsWire
internal import Foundation
internal import GrandstandTestKit
internal import MatchDriver
internal import Postgres

/// What happened to the accepted updates, by the simulator's journal and the surviving ledger.
struct Verdict {
    private var accepted = 0
    /// How many of the accepted updates APNs accepted.
    private var sent = 0
    /// How many of the accepted updates were superseded by newer state that APNs accepted.
    private var superseded = 0
    /// How many of the accepted updates failed according to the ledger, by state and reason.
    private var failed: [String: Int] = [:]
    /// The accepted updates that neither APNs nor the ledger accounts for.
    private var lost: [String] = []
    private let order: ArrivalOrder
    private var channels = 0
    /// The number of channels that only Apple or only the ledger has, and the difference between the numbers of
    /// channels and matches.
    private var leaked = 0
    private var took: [Duration] = []
    private var repeated = 0

    /// Waits until nothing is pending. Then compares the accepted updates with the simulator's journal and the ledger.
    init(calls: [Organisers.Call], ground: Ground, matches: Int) async throws {
        try await until("nothing is pending", within: .seconds(90)) {
            try await ground.rows("select from deliveries where settled_at is null limit 1").isEmpty
        }
        accepted = calls.count
        took = calls.map(\.took).sorted()
        repeated = calls.count { $0.attempts > 1 }
        let arrivals = ground.simulator.arrivals
        order = ArrivalOrder(arrivals)
        account(for: calls, arrivals, try await Self.ledger(ground))
        try await countChannels(ground, matches: matches)
    }

    /// The states and reasons of all deliveries, by broadcast.
    private static func ledger(_ ground: Ground) async throws -> [String: String] {
        var states: [String: String] = [:]
        for row in try await ground.rows(
            "select broadcast_id::text as id, concat_ws(' ', state, reason) as state from deliveries")
        {
            states[try row.decode(String.self, "id")] = try row.decode(String.self, "state")
        }
        return states
    }

    private mutating func account(
        for calls: [Organisers.Call], _ arrivals: [Arrival], _ ledger: [String: String]
    ) {
        let arrived = Set(arrivals.map { [$0.match, $0.number] })
        let newest = Dictionary(arrivals.map { ($0.match, $0.number) }, uniquingKeysWith: max)
        for call in calls {
            let state = ledger[call.broadcast.lowercased()] ?? "not in the ledger"
            switch state {
            case "accepted" where arrived.contains([call.match, call.step]): sent += 1
            case "superseded" where newest[call.match] ?? 0 > call.step: superseded += 1
            // APNs accepted the update, but the ledger has another state.
            case _ where arrived.contains([call.match, call.step]): failed["sent, but \(state)", default: 0] += 1
            case _ where state.hasPrefix("expired"): failed[state, default: 0] += 1
            default: lost.append("match \(call.match), step \(call.step): \(state)")
            }
        }
    }

    private mutating func countChannels(_ ground: Ground, matches: Int) async throws {
        let atApple = Set(ground.simulator.channels(of: Ground.bundleID, in: .production).map(\.id))
        let rows = try await ground.rows(
            "select channel_id as id from channels where state = 'active' and event_key is not null")
        let known = Set(try rows.map { try $0.decode(String.self, "id") })
        channels = known.count
        leaked = atApple.symmetricDifference(known).count + abs(known.count - matches)
    }

    var isGood: Bool { lost.isEmpty && failed.isEmpty && order.backwards.isEmpty && leaked == 0 }

    func text(seconds: Int, incidents: [String]) -> String {
        let failed = failed.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }
        return """
            \(incidents.joined(separator: "\n"))

            updates accepted          \(accepted) in \(seconds) s, \(repeated) of them after the call was repeated
            accepted by Apple         \(sent)
            superseded by newer state \(superseded)
            expired or in doubt       \(failed.isEmpty ? "0" : failed.joined(separator: ", "))
            lost                      \(lost.count)\(lost.prefix(5).map { "\n    " + $0 }.joined())
            back in time              \(order.backwards.count)
            sent again as they were   \(order.repeats)
            channels                  \(channels), \(leaked) leaked or missing
            longest gap of sends      \(String(format: "%.1f", order.gap)) s
            call to 202               median \(took(0.5)), 99 of 100 \(took(0.99)), longest \(took(1))
            verdict                   \(isGood ? "good" : "NOT GOOD")
            """
    }

    private func took(_ part: Double) -> String {
        guard !took.isEmpty else { return "–" }
        let time = took[min(took.count - 1, Int(Double(took.count) * part))]
        return String(
            format: "%.0f ms", Double(time.components.seconds) * 1_000 + Double(time.components.attoseconds) / 1e15)
    }
}
