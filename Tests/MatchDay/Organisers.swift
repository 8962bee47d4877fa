internal import Foundation
internal import GrandstandClient
internal import MatchDriver

/// The senders, one for each match. Each sends the states of its match in turn, and repeats a call until it is
/// accepted.
struct Organisers: Sendable {
    /// One state that was accepted.
    struct Call: Sendable {
        let match: Int
        let step: Int
        let broadcast: String
        /// The time from the first attempt to the 202.
        let took: Duration
        let attempts: Int
    }

    let organiser: Organiser
    private let scripts: [MatchScript]

    /// - Parameter seconds: how long updates are sent. Each match sends its share at equal intervals.
    init(matches: Int, updatesPerMinute: Int, seconds: Int, organiser: Organiser) throws {
        self.organiser = organiser
        let interval = 60 * Double(matches) / Double(updatesPerMinute)
        let audience = GrandstandClient.Audience(
            bundleId: Ground.bundleID, environment: .production, storagePolicy: .mostRecentMessageStored)
        scripts = try (0..<matches).map { match in
            let first = interval * Double(match) / Double(matches)
            return MatchScript(
                match, .putEvent(Self.key(match), .init(name: "Match", audiences: [audience])),
                messages: try (1...max(1, Int(Double(seconds) / interval))).map { step in
                    .init(
                        step, after: first + interval * Double(step - 1),
                        .broadcast(
                            to: Self.key(match), .init(event: .update, contentState: try Mark.content(match, step))))
                })
        }
    }

    private static func key(_ match: Int) -> String { "match-\(match)" }

    /// Declares the app and its matches. Returns when each match has its channel.
    func declare() async throws {
        try await organiser.putApp(Ground.bundleID, name: "Matches")
        try await organiser.declare(scripts)
        for script in scripts { try await organiser.channels(of: Self.key(script.number)) }
    }

    /// Sends all updates. Returns those that were accepted.
    func send() async throws -> [Call] {
        let start = Date()
        return try await withThrowingTaskGroup(of: [Call].self) { group in
            for script in scripts {
                group.addTask {
                    var calls: [Call] = []
                    try await organiser.play(script, from: start) { message, decision in
                        calls.append(
                            Call(
                                match: script.number, step: message.number, broadcast: try decision.result.get().id,
                                took: decision.took, attempts: decision.attempts))
                    }
                    return calls
                }
            }
            return try await group.reduce(into: []) { $0 += $1 }
        }
    }
}
