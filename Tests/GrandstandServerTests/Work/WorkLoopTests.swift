internal import Foundation
internal import Grandstand
internal import GrandstandTestKit
internal import Logging
internal import Synchronization
internal import Testing

@testable internal import GrandstandServer

@Suite(.timeLimit(.minutes(20)))
struct WorkLoopTests {
    /// What a loop requested and did. Each entry is also yielded to `events`.
    private final class Journal: Sendable {
        enum Entry: Equatable {
            case claim(free: Int)
            case begun(Int)
            case cancelled(Int)
        }

        private let entries = Mutex<[Entry]>([])
        private let events: AsyncStream<Entry>
        private let written: AsyncStream<Entry>.Continuation

        init() { (events, written) = AsyncStream.makeStream() }

        var all: [Entry] { entries.withLock { $0 } }

        func write(_ entry: Entry) {
            entries.withLock { $0.append(entry) }
            written.yield(entry)
        }

        /// Waits until `count` more entries satisfy `isWanted`. Entries that an earlier call has read do not count
        /// again.
        func wait(for count: Int, where isWanted: (Entry) -> Bool) async {
            var left = count
            for await entry in events where isWanted(entry) {
                left -= 1
                if left == 0 { return }
            }
        }
    }

    /// Pieces of work that are due.
    private final class Queue: Sendable {
        private let due: Mutex<[Int]>

        init(_ due: some Sequence<Int>) { self.due = Mutex(Array(due)) }

        func add(_ work: Int) { due.withLock { $0.append(work) } }

        func take(_ limit: Int) -> [Int] {
            due.withLock { due in
                defer { due.removeFirst(min(limit, due.count)) }
                return Array(due.prefix(limit))
            }
        }
    }

    private static func settings(slots: Int = 1) -> WorkLoop<Int>.Settings {
        .init(slots: slots, pollInterval: .seconds(3_600), retry: .zero, topic: .schedule)
    }

    private static func loop(
        _ queue: Queue, _ journal: Journal, slots: Int = 1, _ worker: Worker = LoopSample.worker(),
        perform: @escaping @Sendable (Int) async -> Void
    ) -> WorkLoop<Int> {
        WorkLoop(
            settings(slots: slots), failure: "failed", worker,
            claim: { free, _ in
                journal.write(.claim(free: free))
                return await .claimed(queue.take(free)) { nil }
            },
            perform: { work in
                journal.write(.begun(work))
                await perform(work)
                return nil
            }, extend: { _ in })
    }

    private static func isBegun(_ entry: Journal.Entry) -> Bool {
        if case .begun = entry { true } else { false }
    }

    private static func isClaim(_ entry: Journal.Entry) -> Bool {
        if case .claim = entry { true } else { false }
    }

    @Test func `no more work is claimed than there are free slots, and each freed place is used again`() async {
        let (journal, valve) = (Journal(), Valve())
        let loop = Self.loop(Queue(0..<10), journal, slots: 3) { _ in await valve.pass() }
        await running(loop.run) {
            await valve.hold(3)
            #expect(journal.all.filter(Self.isClaim) == [.claim(free: 3)])
            valve.open()
            await journal.wait(for: 10, where: Self.isBegun)
        }
        #expect(valve.most == 3)
        #expect(Set(journal.all.filter(Self.isBegun).map { "\($0)" }).count == 10)
        for case .claim(let free) in journal.all { #expect((1...3).contains(free)) }
    }

    @Test func `a wake-up starts a round, even if it comes during a round`() async {
        let (journal, queue) = (Journal(), Queue([]))
        let signals = WakeUps.byHand
        let loop = Self.loop(queue, journal, LoopSample.worker(signals: signals)) { _ in }
        await running(loop.run) {
            await journal.wait(for: 1, where: Self.isClaim)
            for work in 0..<100 {
                queue.add(work)
                signals.wake()
                await journal.wait(for: 1) { $0 == .begun(work) }
            }
        }
    }

    @Test func `a failed round is followed by another, and an outage is logged when it begins and ends`() async {
        let failures = Mutex(3)
        let (journal, lines) = (Journal(), LogLines())
        let loop = WorkLoop<Int>(
            Self.settings(), failure: "failed", LoopSample.worker(logger: lines.logger),
            claim: { free, _ in
                let fails = failures.withLock { left in
                    left -= 1
                    return left >= 0
                }
                if fails { throw Problem(.storeUnavailable, "down") }
                journal.write(.claim(free: free))
                return .idle()
            })
        await running(loop.run) { await journal.wait(for: 1, where: Self.isClaim) }
        #expect(failures.withLock { $0 } == -1)
        #expect(lines.all == ["warning failed; trying again", "notice over: failed"])
    }

    @Test func `nothing is claimed while claims are not allowed`() async {
        let (journal, asked) = (Journal(), AsyncStream.makeStream(of: Void.self))
        let isAllowed = Atomic(false)
        let loop = Self.loop(
            Queue([7]), journal,
            LoopSample.worker(mayClaim: {
                asked.continuation.yield()
                return isAllowed.load(ordering: .relaxed)
            })
        ) { _ in }
        await running(loop.run) {
            for await _ in asked.stream { break }
            #expect(journal.all.isEmpty)
            isAllowed.store(true, ordering: .relaxed)
            loop.wake()
            await journal.wait(for: 1) { $0 == .begun(7) }
        }
    }

    @Test func `a stop lets running work end and claims nothing more`() async throws {
        let (journal, valve, drain) = (Journal(), Valve(), Drain(.seconds(3_600)))
        let queue = Queue([1])
        let loop = Self.loop(queue, journal, LoopSample.worker(drain: drain)) { work in
            await valve.pass()
            if Task.isCancelled { journal.write(.cancelled(work)) }
        }
        let running = Task { await loop.run() }
        await valve.hold(1)
        queue.add(2)
        running.cancel()
        try await until("the stop has begun") { drain.hasBegun }
        valve.open()
        await running.value
        #expect(journal.all == [.claim(free: 1), .begun(1)])
    }

    /// Stops a loop whose work ends only by cancellation, and returns its journal.
    private static func outlasting(_ drain: Drain) async -> [Journal.Entry] {
        let journal = Journal()
        let loop = Self.loop(Queue([1]), journal, LoopSample.worker(drain: drain)) { work in
            let (never, hold) = AsyncStream.makeStream(of: Void.self)
            for await _ in never {}
            withExtendedLifetime(hold) {}
            journal.write(.cancelled(work))
        }
        await running(loop.run) { await journal.wait(for: 1, where: isBegun) }
        return journal.all
    }

    @Test func `work that takes longer than the drain is cancelled`() async {
        #expect(await Self.outlasting(Drain(.milliseconds(1))).last == .cancelled(1))
    }

    @Test func `loops that are stopped one after the other share one drain`() async {
        let drain = Drain(.milliseconds(1))
        let end = drain.begin()
        try? await Task.sleep(until: end, clock: .continuous)
        #expect(drain.begin() == end)
        // This loop is stopped after the drain is over, so its work is cancelled at once. It gets no drain of its own.
        #expect(await Self.outlasting(drain).last == .cancelled(1))
    }

    @Test(
        arguments: [
            (nil, .seconds(60), .seconds(60)), (10, .seconds(10), .seconds(10)), (1_000, .seconds(60), .seconds(60)),
            (-10, .zero, .milliseconds(5)),
        ] as [(TimeInterval?, Duration, Duration)])
    func `a loop sleeps until the next work is due, within its limits`(
        _ seconds: TimeInterval?, _ pause: Duration, _ idle: Duration
    ) {
        var settings = Self.settings()
        settings.pollInterval = .seconds(60)
        for (isIdle, pause) in [(false, pause), (true, idle)] {
            let due = seconds.map { LoopSample.now + $0 }
            #expect(settings.pause(until: due, now: LoopSample.now, isIdle: isIdle) == pause)
        }
    }
}

/// How loops log failures.
struct FailureLogTests {
    private struct Cut: Error {}

    @Test func `a failure is logged at its level, unless a stop caused it`() async throws {
        let lines = LogLines()
        let logger = lines.logger
        logger.failed("rows could not be read", Cut())
        logger.failed("rows could not be read", Cut(), at: .warning)
        await Task {
            withUnsafeCurrentTask { $0?.cancel() }
            logger.failed("rows could not be read", Cut())
        }.value
        // What a stop caused is logged below the level of these lines.
        #expect(lines.all == ["error rows could not be read", "warning rows could not be read"])
    }
}
