internal import APNsSimulator
internal import APNsWire
internal import Foundation
internal import GrandstandTestKit
internal import Postgres

/// What the simulator's journal and the surviving ledger say of what was accepted.
struct Verdict {
    private var accepted = 0
    /// Of these, what Apple accepted.
    private var sent = 0
    /// Of these, what gave way to newer state that Apple accepted.
    private var superseded = 0
    /// Of these, what came to nothing by the ledger's own account, by its words for it.
    private var failed: [String: Int] = [:]
    /// Of these, what neither Apple nor the ledger accounts for.
    private var lost: [String] = []
    /// Messages whose timestamp is before that of the one before them on their channel, or whose state is.
    private var backwards = 0
    /// Messages that were sent again as they were, for their answer was not heard.
    private var repeats = 0
    private var channels = 0
    /// Channels that Apple has and no match, or the other way round.
    private var leaked = 0
    private var gap: TimeInterval = 0
    private var took: [Duration] = []
    private var repeated = 0

    /// Waits until nothing is pending, then compares.
    init(calls: [Organisers.Call], ground: Ground, matches: Int) async throws {
        try await until("nothing is pending", within: .seconds(90)) {
            try await ground.rows("select from deliveries where settled_at is null limit 1").isEmpty
        }
        accepted = calls.count
        took = calls.map(\.took).sorted()
        repeated = calls.count { $0.attempts > 1 }
        let messages = ground.simulator.journal().compactMap(Message.init)
        readOrder(of: messages)
        account(for: calls, messages, try await Self.ledger(ground))
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

    private mutating func readOrder(of messages: [Message]) {
        var last: [String: Message] = [:]
        for (index, message) in messages.enumerated() {
            if index > 0 { gap = max(gap, message.at.timeIntervalSince(messages[index - 1].at)) }
            if let before = last[message.channel] {
                let isRepeat = (message.timestamp, message.step) == (before.timestamp, before.step)
                if isRepeat { repeats += 1 }
                if !isRepeat, message.timestamp <= before.timestamp || message.step <= before.step { backwards += 1 }
            }
            last[message.channel] = message
        }
    }

    private mutating func account(
        for calls: [Organisers.Call], _ messages: [Message], _ ledger: [String: String]
    ) {
        let arrived = Set(messages.map { [$0.match, $0.step] })
        let newest = Dictionary(messages.map { ($0.match, $0.step) }, uniquingKeysWith: max)
        for call in calls {
            let state = ledger[call.broadcast.lowercased()] ?? "not in the ledger"
            switch state {
            case "accepted" where arrived.contains([call.match, call.step]): sent += 1
            case "superseded" where newest[call.match] ?? 0 > call.step: superseded += 1
            // Apple has it, and the ledger does not know.
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

    var isGood: Bool { lost.isEmpty && failed.isEmpty && backwards == 0 && leaked == 0 }

    func text(seconds: Int, incidents: [String]) -> String {
        let failed = failed.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }
        return """
            \(incidents.joined(separator: "\n"))

            updates accepted          \(accepted) in \(seconds) s, \(repeated) of them after the call was repeated
            accepted by Apple         \(sent)
            superseded by newer state \(superseded)
            expired or in doubt       \(failed.isEmpty ? "0" : failed.joined(separator: ", "))
            lost                      \(lost.count)\(lost.prefix(5).map { "\n    " + $0 }.joined())
            back in time              \(backwards)
            sent again as they were   \(repeats)
            channels                  \(channels), \(leaked) leaked or missing
            longest gap of sends      \(String(format: "%.1f", gap)) s
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

/// A broadcast that Apple accepted.
struct Message {
    let at: Date
    let channel: String
    let timestamp: Int
    let match: Int
    let step: Int

    init?(_ entry: JournalEntry) {
        guard entry.operation == .broadcast, entry.status == 200,
            let channel = entry.request[header: "apns-channel-id"],
            let body = try? JSONSerialization.jsonObject(with: Data(entry.request.body)) as? [String: Any],
            let aps = body["aps"] as? [String: Any], let timestamp = aps["timestamp"] as? Int,
            let state = aps["content-state"] as? [String: Any],
            let match = state["match"] as? Int, let step = state["step"] as? Int
        else { return nil }
        self.at = entry.time
        self.channel = channel
        self.timestamp = timestamp
        self.match = match
        self.step = step
    }
}
