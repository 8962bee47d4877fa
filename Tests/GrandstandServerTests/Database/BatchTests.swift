internal import Grandstand
internal import GrandstandTestKit
internal import Postgres
internal import Synchronization
internal import Testing

@testable internal import GrandstandServer

/// Calls that arrive while a batch runs are done together in the next batch. An item that fails does not fail the
/// others.
@Suite(.timeLimit(.minutes(20)))
struct BatchTests {
    /// Records the batches that began, and suspends each one until `open()` is called.
    private final class Works: Sendable {
        private let batches = Mutex<[[Int]]>([])
        private let valve = Valve()

        var begun: [[Int]] { batches.withLock { $0 } }

        func begin(_ items: [Int]) async {
            batches.withLock { $0.append(items) }
            await valve.pass()
        }

        func open() { valve.open() }
    }

    private struct Refused: Error, Equatable {
        let items: [Int]
    }

    private static let away = Problem(.storeUnavailable, "The database is away.")

    private static func batch(
        _ works: Works, slots: Int = 1, limit: Int = 100,
        _ outcome: @escaping @Sendable ([Int]) throws -> Void = { _ in }
    ) -> Batch<Int, Int> {
        Batch(slots: slots, limit: limit) { items in
            await works.begin(items)
            try outcome(items)
            return items.map { $0 * 10 }
        }
    }

    /// - Parameter fails: whether the first batch fails. After a failed batch the next batch begins at once. After a
    ///   successful batch the next batch begins after the pause of `rest`.
    @Test(arguments: [false, true])
    func `a batch of waiting callers has the time limit of its callers`(fails: Bool) async throws {
        let works = Works()
        let limits = Mutex<[Duration?]>([])
        let batch = Batch<Int, Int>(limit: 100, restAfter: { $0 }) { items in
            limits.withLock { $0.append(PostgresTimeLimit.current?.maxWait) }
            await works.begin(items)
            if fails, items == [1] { throw Self.away }
            return items
        }
        try await PostgresTimeLimit.$current.withValue(PostgresTimeLimit(maxSilence: .seconds(3), maxWait: .seconds(7)))
        {
            let first = Task { try await batch.run(1) }
            try await until("the first is under way") { works.begun.count == 1 }
            let second = Task { try await batch.run(2) }
            try await until("the second waits") { batch.waitingCount == 1 }
            works.open()
            _ = try? await first.value
            #expect(try await second.value == 2)
        }
        #expect(limits.withLock { $0 } == [.seconds(7), .seconds(7)])
    }

    private typealias Running = Task<Int, any Error>

    /// Starts three calls: 1 is under way, and 2 and 3 wait, in this order.
    private static func twoBehindOne(
        _ batch: Batch<Int, Int>, _ works: Works
    ) async throws -> (Running, Running, Running) {
        let first = Task { try await batch.run(1) }
        try await until("the first is under way") { works.begun.count == 1 }
        let second = Task { try await batch.run(2) }
        try await until("the second waits") { batch.waitingCount == 1 }
        let third = Task { try await batch.run(3) }
        try await until("both wait") { batch.waitingCount == 2 }
        return (first, second, third)
    }

    @Test
    func `a single call runs at once, and calls that come meanwhile run together in order, each with its own answer`()
        async throws
    {
        let works = Works()
        let batch = Self.batch(works, limit: 3)
        async let first = batch.run(1)
        try await until("the first is under way") { works.begun == [[1]] }
        var others: [Task<Int, any Error>] = []
        for item in 2...5 {
            others.append(Task { try await batch.run(item) })
            try await until("\(item) waits") { batch.waitingCount == item - 1 }
        }
        works.open()
        #expect(try await first == 10)
        for (item, task) in zip(2..., others) { #expect(try await task.value == item * 10) }
        #expect(works.begun == [[1], [2, 3, 4], [5]])
    }

    @Test func `a second batch starts in parallel after a while, and no more than the allowed number`() async throws {
        let works = Works()
        let batch = Self.batch(works, slots: 2, limit: 1)
        async let first = batch.run(1)
        try await until("the first is under way") { works.begun.count == 1 }
        async let second = batch.run(2)
        try await until("the second is under way") { works.begun.count == 2 }
        async let third = batch.run(3)
        try await until("the third waits") { batch.waitingCount == 1 }
        works.open()
        #expect(try await [first, second, third] == [10, 20, 30])
        #expect(works.begun == [[1], [2], [3]])
        #expect(try await batch.run(4) == 40)
    }

    @Test func `a failing item spoils only its own answer`() async throws {
        let works = Works()
        let batch = Self.batch(works) { if $0.contains(3) { throw Refused(items: $0) } }
        let (first, second, third) = try await Self.twoBehindOne(batch, works)
        works.open()
        #expect(try await first.value == 10)
        #expect(try await second.value == 20)
        await #expect(throws: Refused(items: [3])) { try await third.value }
        #expect(works.begun == [[1], [2, 3], [2], [3]])
    }

    @Test func `an error of the whole batch is everyone's answer, and nothing is done twice`() async throws {
        let works = Works()
        let batch = Self.batch(works) { if $0.contains(3) { throw Self.away } }
        let (first, second, third) = try await Self.twoBehindOne(batch, works)
        works.open()
        #expect(try await first.value == 10)
        await #expect(throws: Self.away) { try await second.value }
        await #expect(throws: Self.away) { try await third.value }
        #expect(works.begun == [[1], [2, 3]])
    }
}
