internal import APNsSimulator
internal import APNsWire
internal import Foundation
internal import GrandstandTestKit
internal import Synchronization

/// Somebody else's system with a key of the same team: it makes channels of its own on the app, and deletes some of
/// them.
final class ForeignSystem: Sendable {
    private struct Record {
        var made: Set<String> = []
        var kept: [String] = []
    }

    private let record = Mutex(Record())
    /// Turns that come while the system works count as one turn.
    private let turns = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))

    /// All channels that this system created.
    var made: Set<String> { record.withLock { $0.made } }
    /// The channels that this system created and has not deleted.
    var kept: Set<String> { Set(record.withLock { $0.kept }) }

    /// Gives this system a turn: it creates and deletes channels once.
    func turn() { turns.continuation.yield() }

    /// Lets this system finish the work of its current turn, then ends it.
    func finish() { turns.continuation.finish() }

    /// At each turn, this system creates two channels, and deletes its oldest channel if it has more than eight. It
    /// ends after `finish`.
    func run(_ simulator: Simulator) async throws {
        try await AppleConsole.with(simulator, .production) { console in
            for await _ in turns.stream {
                for _ in 0..<2 {
                    let id = try await console.create(.mostRecentMessageStored)
                    record.withLock { record in
                        record.made.insert(id)
                        record.kept.append(id)
                    }
                }
                if let old = record.withLock({ $0.kept.count > 8 ? $0.kept.removeFirst() : nil }) {
                    try await console.delete(old)
                }
            }
        }
    }
}
