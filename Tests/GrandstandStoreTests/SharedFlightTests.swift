internal import Grandstand
internal import Postgres
internal import Synchronization
internal import Testing

@testable internal import GrandstandStore

/// Expensive queries that many callers share.
@Suite(.timeLimit(.minutes(1)))
struct SharedFlightTests {
    private struct Refused: Error {}

    /// A query whose answers the test releases one by one. The first answer is 1, the second 2, and so on.
    private final class Costly: Sendable {
        let answers: SharedFlight<String, Int>
        private let count = Atomic(0)
        private let gate = AsyncStream<Void>.makeStream()
        let rested = AsyncStream<Void>.makeStream()
        private let begun = AsyncStream<Void>.makeStream()

        /// - Parameter resting: whether each pause lasts until the test sends an element to `rested`.
        init(resting: Bool = false, age: Duration = .zero) {
            let end = rested.stream
            answers =
                resting || age > .zero
                ? SharedFlight(age: age) { _ in for await _ in end { return } } : SharedFlight()
        }

        func ask() async throws -> Int {
            try await answers.answer("a") { await self.answer() }
        }

        /// Asks with a time limit of zero.
        func askHastily() async -> Problem.Kind? {
            await PostgresTimeLimit.$current.withValue(PostgresTimeLimit(silence: .zero, limit: .zero)) {
                do {
                    _ = try await ask()
                    return nil
                } catch {
                    return (error as? Problem)?.kind
                }
            }
        }

        private func answer() async -> Int {
            begun.continuation.yield()
            for await _ in gate.stream { break }
            return count.add(1, ordering: .relaxed).newValue
        }

        func began() async { for await _ in begun.stream { return } }

        func letThrough() { gate.continuation.yield() }
    }

    @Test func `callers that come during a query share the next query`() async throws {
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

    @Test func `an error goes to all callers that share it, and is not stored`() async throws {
        let answers = SharedFlight<String, Int>()
        await #expect(throws: Refused.self) { try await answers.answer("a") { throw Refused() } }
        #expect(try await answers.answer("a") { 7 } == 7)
    }

    @Test func `a caller waits up to its limit, and a later caller shares the late answer`() async throws {
        let costly = Costly(resting: true)
        #expect(await costly.askHastily() == .storeUnavailable)
        let again = (0..<3).map { _ in Task { try await costly.ask() } }
        while await costly.answers.sharingCount("a") < 3 { await Task.yield() }
        costly.letThrough()
        for task in again { #expect(try await task.value == 1) }
        // The answer is kept for a while. Callers that come in this time get it, too.
        while await !costly.answers.keeps("a") { await Task.yield() }
        #expect(try await costly.ask() == 1)
        costly.rested.continuation.yield()
        while await costly.answers.keeps("a") { await Task.yield() }
        costly.letThrough()
        #expect(try await costly.ask() == 2)
        costly.rested.continuation.yield()
    }

    @Test func `if a caller gives up during the pause between queries, the others get the next answer`() async throws {
        let costly = Costly(resting: true)
        costly.letThrough()
        #expect(try await costly.ask() == 1)
        let patient = Task { try await costly.ask() }
        while await costly.answers.waitingCount("a") < 1 { await Task.yield() }
        #expect(await costly.askHastily() == .storeUnavailable)
        costly.rested.continuation.yield()
        costly.letThrough()
        #expect(try await patient.value == 2)
        costly.rested.continuation.yield()
    }

    @Test func `an answer that may be a little old is computed once for concurrent and soon following callers`()
        async throws
    {
        let costly = Costly(age: .seconds(3_600))
        let first = Task { try await costly.ask() }
        await costly.began()
        let others = (0..<5).map { _ in Task { try await costly.ask() } }
        while await costly.answers.sharingCount("a") < 6 { await Task.yield() }
        costly.letThrough()
        for task in [first] + others { #expect(try await task.value == 1) }
        while await !costly.answers.keeps("a") { await Task.yield() }
        #expect(try await costly.ask() == 1)
        costly.rested.continuation.yield()
        while await costly.answers.keeps("a") { await Task.yield() }
        costly.letThrough()
        #expect(try await costly.ask() == 2)
        costly.rested.continuation.yield()
    }
}
