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

    /// Everything it ever made.
    var made: Set<String> { books.withLock { $0.made } }
    /// What it still uses.
    var kept: Set<String> { Set(books.withLock { $0.kept }) }

    /// Works until cancelled: of two channels that it makes it deletes one, later.
    func run(_ simulator: Simulator) async throws {
        try await AppleConsole.with(simulator, Stage.bundleID, .production) { console in
            while !Task.isCancelled {
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
                // Not faster than a person's script.
                try? await Task.sleep(for: .milliseconds(50))
            }
        }
    }
}
