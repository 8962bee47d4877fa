internal import Foundation
internal import Grandstand
internal import Synchronization
internal import Testing

@testable internal import GrandstandService

@Suite(.timeLimit(.minutes(1)))
struct JanitorTests {
    /// The janitor's calls.
    private struct Step: Equatable {
        let rows: RetentionRule.Rows
        let before: Date
    }

    private let month = 30 * 86_400.0

    private func janitor(_ rules: [RetentionRule], _ prune: @escaping Janitor.Prune) -> Janitor {
        Janitor(rules: rules, prune: prune, pause: .zero, now: { Sample.now }, logger: Sample.logger)
    }

    @Test func `a round continues in steps until nothing old is left, rule by rule`() async {
        let state = Mutex((left: 120, steps: [Step]()))
        await janitor([RetentionRule(.events, keep: month), RetentionRule(.keys, keep: 2 * month)]) {
            rows, before, limit in
            state.withLock { state in
                state.steps.append(Step(rows: rows, before: before))
                guard rows == .events else { return 0 }
                let count = min(limit, state.left)
                state.left -= count
                return count
            }
        }.round()
        let (left, steps) = state.withLock { $0 }
        #expect(left == 0)
        #expect(
            steps == Array(repeating: Step(rows: .events, before: Sample.now.addingTimeInterval(-month)), count: 3)
                + [Step(rows: .keys, before: Sample.now.addingTimeInterval(-2 * month))])
    }

    @Test func `a failed rule waits for the next round, and the others are applied`() async {
        let asked = Mutex<[RetentionRule.Rows]>([])
        let isDone = await janitor([RetentionRule(.events, keep: month), RetentionRule(.keys, keep: month)]) {
            rows, _, _ in
            asked.withLock { $0.append(rows) }
            throw Problem(.storeUnavailable, "down")
        }.round()
        #expect(!isDone)
        #expect(asked.withLock { $0 } == [.events, .keys])
    }

    @Test func `after a failed round the next one comes soon`() async {
        let rounds = Mutex(0)
        let janitor = Janitor(
            rules: [RetentionRule(.events, keep: month)],
            prune: { _, _, _ in
                rounds.withLock { $0 += 1 }
                throw Problem(.storeUnavailable, "down")
            }, interval: .seconds(3_600), retry: 0, now: { Sample.now }, logger: Sample.logger)
        let running = Task { await janitor.run() }
        while rounds.withLock({ $0 }) < 3 { await Task.yield() }
        running.cancel()
        await running.value
    }
}
