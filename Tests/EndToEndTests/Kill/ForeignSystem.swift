internal import APNsSimulator
internal import APNsWire
internal import Foundation
internal import GrandstandTestKit
internal import Synchronization

/// Somebody else's system with a key of the same team: it makes channels of its own on the app, and deletes some of them.
final class ForeignSystem: Sendable {
    private struct Books {
        var made: Set<String> = []
        var kept: [String] = []
    }

    private let books = Mutex(Books())
    /// Turns that come while it works count as one.
    private let turns = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))

    /// All channels that it created.
    var made: Set<String> { books.withLock { $0.made } }
    /// The channels that it has not deleted.
    var kept: Set<String> { Set(books.withLock { $0.kept }) }

    /// Makes it create and delete channels once.
    func turn() { turns.continuation.yield() }

    /// Lets it finish the work of its current turn, then ends it.
    func finish() { turns.continuation.finish() }

    /// At each turn creates two channels, and deletes its oldest one if it has more than eight. Ends after `finish`.
    func run(_ simulator: Simulator) async throws {
        try await AppleConsole.with(simulator, Stage.bundleID, .production) { console in
            for await _ in turns.stream {
                for _ in 0..<2 {
                    let id = try await console.create(.mostRecentMessageStored)
                    books.withLock { books in
                        books.made.insert(id)
                        books.kept.append(id)
                    }
                }
                if let old = books.withLock({ $0.kept.count > 8 ? $0.kept.removeFirst() : nil }) {
                    try await console.delete(old)
                }
            }
        }
    }
}
