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
    /// Turns that come while it works are one.
    private let turns = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))

    /// Everything it ever made.
    var made: Set<String> { books.withLock { $0.made } }
    /// What it still uses.
    var kept: Set<String> { Set(books.withLock { $0.kept }) }

    /// Lets it do something.
    func turn() { turns.continuation.yield() }

    /// It does nothing more after what it does now.
    func finish() { turns.continuation.finish() }

    /// Works at each turn until it is finished: of two channels that it makes it deletes one, later.
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
