internal import Foundation
internal import Grandstand
internal import Synchronization
internal import Testing

@testable internal import GrandstandService

@Suite(.timeLimit(.minutes(1)))
struct JanitorTests {
    /// So many old broadcasts; takes down what it is asked.
    private final class Attic: PrunableStore {
        let state: Mutex<(left: Int, cutoffs: [Date])>
        private let fails: Bool

        init(_ count: Int, fails: Bool = false) {
            state = Mutex((count, []))
            self.fails = fails
        }

        func prune(before cutoff: Date, limit: Int) async throws -> Int {
            try state.withLock { state in
                state.cutoffs.append(cutoff)
                if fails { throw Problem(.storeUnavailable, "down") }
                let count = min(limit, state.left)
                state.left -= count
                return count
            }
        }
    }

    private static func janitor(_ attic: Attic) -> Janitor {
        var settings = Janitor.Settings(keep: 86_400)
        settings.step = 10
        settings.pause = .zero
        return Janitor(history: attic, settings: settings, now: { Sample.now }, logger: Sample.logger)
    }

    @Test func `a round goes on in steps until nothing old is left`() async {
        let attic = Attic(25)
        await Self.janitor(attic).round()
        let (left, cutoffs) = attic.state.withLock { $0 }
        #expect(left == 0)
        #expect(cutoffs == Array(repeating: Sample.now.addingTimeInterval(-86_400), count: 3))
    }

    @Test func `a database that is down ends the round, not the janitor`() async {
        let attic = Attic(25, fails: true)
        await Self.janitor(attic).round()
        #expect(attic.state.withLock { $0.cutoffs.count } == 1)
        #expect(attic.state.withLock { $0.left } == 25)
    }
}
