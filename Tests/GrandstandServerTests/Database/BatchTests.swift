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

    private struct Away: Error, Equatable {}

    private static func batch(
        _ works: Works, places: Int = 1, extraPlaceDelay: Duration = .zero, limit: Int = 100,
        _ outcome: @escaping @Sendable ([Int]) throws -> Void = { _ in }
    ) -> Batch<Int, Int> {
        Batch(places: places, extraPlaceDelay: extraPlaceDelay, limit: limit, failsWholeBatch: { $0 is Away }) {
            items in
            await works.begin(items)
            try outcome(items)
            return items.map { $0 * 10 }
        }
    }

    /// - Parameter fails: whether the first batch fails. After a failed batch the next batch begins at once. After a
    ///   successful batch the next batch begins after the pause of `restPerWork`.
    @Test(arguments: [false, true])
    func `a batch of waiting callers has the time limit of its callers`(fails: Bool) async throws {
        let works = Works()
        let limits = Mutex<[Duration?]>([])
        let batch = Batch<Int, Int>(limit: 100, restPerWork: 1) { items in
            limits.withLock { $0.append(PostgresTimeLimit.current?.limit) }
            await works.begin(items)
            if fails, items == [1] { throw Problem.contention }
            return items
        }
        try await PostgresTimeLimit.$current.withValue(PostgresTimeLimit(silence: .seconds(3), limit: .seconds(7))) {
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

    @Test(arguments: [Duration.seconds(3_600), .zero])
    func `a second batch starts in parallel only after a while, and no more than the allowed number`(delay: Duration)
        async throws
    {
        let works = Works()
        let batch = Self.batch(works, places: 2, extraPlaceDelay: delay, limit: 1)
        async let first = batch.run(1)
        try await until("the first is under way") { works.begun.count == 1 }
        async let second = batch.run(2)
        try await until("the second waits or is under way") {
            delay == .zero ? works.begun.count == 2 : batch.waitingCount == 1
        }
        async let third = batch.run(3)
        try await until("the third waits") { batch.waitingCount == (delay == .zero ? 1 : 2) }
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
        let batch = Self.batch(works) { if $0.contains(3) { throw Away() } }
        let (first, second, third) = try await Self.twoBehindOne(batch, works)
        works.open()
        #expect(try await first.value == 10)
        await #expect(throws: Away()) { try await second.value }
        await #expect(throws: Away()) { try await third.value }
        #expect(works.begun == [[1], [2, 3]])
    }
}

/// An outage is logged once when it begins and once when it ends.
struct OutageLogTests {
    @Test func `an outage gives one warning, however many attempts fail, and a notice when it is over`() {
        let lines = LogLines()
        let log = OutageLog("the thing could not be read", lines.logger)
        let error = Problem(.storeUnavailable, "gone")
        log.worked()
        for _ in 1...100 { log.failed(error) }
        log.worked()
        log.worked()
        log.failed(error)
        #expect(
            lines.all == [
                "warning the thing could not be read; trying again", "notice over: the thing could not be read",
                "warning the thing could not be read; trying again",
            ])
    }
}
