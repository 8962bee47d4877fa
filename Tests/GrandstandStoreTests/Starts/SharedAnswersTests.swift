internal import Synchronization
internal import Testing

@testable internal import GrandstandStore

/// Costly questions that many ask.
@Suite(.timeLimit(.minutes(1)))
struct SharedAnswersTests {
    private struct Refused: Error {}

    /// A question whose answers are let through one by one: each says how many there were.
    private final class Costly: Sendable {
        let answers = SharedAnswers<String, Int>()
        private let count = Atomic(0)
        private let gate = AsyncStream<Void>.makeStream()
        private let begun = AsyncStream<Void>.makeStream()

        func ask() async throws -> Int {
            try await answers.answer("a") { await self.answer() }
        }

        private func answer() async -> Int {
            begun.continuation.yield()
            for await _ in gate.stream { break }
            return count.add(1, ordering: .relaxed).newValue
        }

        func began() async { for await _ in begun.stream { return } }

        func letThrough() { gate.continuation.yield() }
    }

    @Test func `a caller that asks while a question is being answered shares the next answer`() async throws {
        let costly = Costly()
        let first = Task { try await costly.ask() }
        await costly.began()
        let later = (0..<5).map { _ in Task { try await costly.ask() } }
        while await costly.answers.waitingCount("a") < 5 { await Task.yield() }
        #expect(try await costly.answers.answer("b") { 0 } == 0)
        costly.letThrough()
        #expect(try await first.value == 1)
        costly.letThrough()
        for task in later { #expect(try await task.value == 2) }
        costly.letThrough()
        #expect(try await costly.ask() == 3)
    }

    @Test func `a refusal goes to all callers that share it, and is not kept`() async throws {
        let answers = SharedAnswers<String, Int>()
        await #expect(throws: Refused.self) { try await answers.answer("a") { throw Refused() } }
        #expect(try await answers.answer("a") { 7 } == 7)
    }
}
