internal import APNsSimulator
internal import Foundation
internal import GrandstandTestKit

/// The senders: one for each match, which sends its states in turn and repeats a call until it is accepted, with the
/// same `Idempotency-Key`.
struct Organisers: Sendable {
    /// One state that was accepted.
    struct Call: Sendable {
        let match: Int
        let step: Int
        let broadcast: String
        /// From the first attempt to the 202.
        let took: Duration
        let attempts: Int
    }

    let matches: Int
    let updatesPerMinute: Int
    let caller: Caller

    /// The app and its matches; returns when each has its channel.
    func declare() async throws {
        try await insist(
            "PUT", "/v1/apps/\(Ground.bundleID)",
            #"{"name": "Matches", "teamId": "\#(SimulatorIdentity.teamID)", "keyId": "\#(SimulatorIdentity.keyID)"}"#)
        let audience =
            #"{"bundleId": "\#(Ground.bundleID)", "environment": "production", "storagePolicy": "mostRecentMessageStored"}"#
        for match in 0..<matches {
            try await insist("PUT", "/v1/events/match-\(match)", #"{"name": "Match", "audiences": [\#(audience)]}"#)
        }
        for match in 0..<matches {
            try await until("match \(match) has its channel") {
                let path = "/v1/lookup/\(Ground.bundleID)/production/match-\(match)"
                return try await caller("GET", path).status == 200
            }
        }
    }

    /// Sends for so long, each match its share of the updates, evenly; returns what was accepted.
    func send(from start: ContinuousClock.Instant, for duration: Duration) async throws -> [Call] {
        let interval = Duration.seconds(60) * matches / updatesPerMinute
        let steps = Int(duration / interval)
        return try await withThrowingTaskGroup(of: [Call].self) { group in
            for match in 0..<matches {
                let first = start + interval * match / matches
                group.addTask {
                    var calls: [Call] = []
                    for step in 1...max(1, steps) {
                        // After an outage it catches up.
                        try await Task.sleep(until: first + interval * (step - 1), clock: .continuous)
                        calls.append(try await accepted(match, step))
                    }
                    return calls
                }
            }
            return try await group.reduce(into: []) { $0 += $1 }
        }
    }

    private func accepted(_ match: Int, _ step: Int) async throws -> Call {
        let began = ContinuousClock.now
        let body = #"{"event": "update", "contentState": {"match": \#(match), "step": \#(step)}}"#
        var attempts = 0
        while true {
            attempts += 1
            let answer = try? await caller(
                "POST", "/v1/events/match-\(match)/broadcasts", body, idempotencyKey: "match-\(match)-\(step)")
            if let answer, answer.status == 202, let id = answer.text("id") {
                return Call(
                    match: match, step: step, broadcast: id, took: ContinuousClock.now - began, attempts: attempts)
            }
            // 409: the first attempt is still under way. All below 500 else would be a fault of this program's.
            if let answer, (400..<500).contains(answer.status), ![409, 429].contains(answer.status) {
                throw Mishap("match \(match), step \(step): \(String(decoding: answer.body, as: UTF8.self))")
            }
            try await Task.sleep(for: .milliseconds(200))
        }
    }

    private func insist(_ method: String, _ path: String, _ body: String) async throws {
        try await until("\(method) \(path)") { [200, 201].contains(try await caller(method, path, body).status) }
    }
}
