internal import APNsWire
internal import Foundation
internal import Grandstand
internal import GrandstandTestKit
internal import Logging
internal import Postgres
internal import Synchronization
internal import Testing

@testable internal import GrandstandServer

@Suite(.timeLimit(.minutes(20)))
struct JanitorTests {
    /// The janitor's calls.
    private struct Step: Equatable {
        let rows: String
        let before: Date
    }

    private static let month = 30 * 86_400.0

    /// Rules for events and, kept twice as long, for keys.
    private func rules(
        _ prune: @escaping @Sendable (_ rows: String, _ before: Date, _ limit: Int) async throws -> Int
    ) -> [RetentionRule] {
        [("events", Self.month), ("keys", 2 * Self.month)].map { rows, keep in
            RetentionRule(rows: rows, keep: keep) { try await prune(rows, $0, $1) }
        }
    }

    private func janitor(_ rules: [RetentionRule]) -> Janitor {
        Janitor(rules: rules, pause: .zero, now: { LoopSample.now }, logger: LoopSample.logger)
    }

    @Test func `a round continues in steps until nothing old is left, rule by rule`() async {
        let state = Mutex((left: 1_200, steps: [Step]()))
        let rules = rules { rows, before, limit in
            state.withLock { state in
                state.steps.append(Step(rows: rows, before: before))
                guard rows == "events" else { return 0 }
                let count = min(limit, state.left)
                state.left -= count
                return count
            }
        }
        await janitor(rules).round()
        let (left, steps) = state.withLock { $0 }
        #expect(left == 0)
        #expect(
            steps == Array(repeating: Step(rows: "events", before: LoopSample.now - Self.month), count: 3)
                + [Step(rows: "keys", before: LoopSample.now - 2 * Self.month)])
    }

    @Test func `a failed rule waits for the next round, and the others are applied`() async {
        let asked = Mutex<[String]>([])
        let rules = rules { rows, _, _ in
            asked.withLock { $0.append(rows) }
            throw Problem(.storeUnavailable, "down")
        }
        #expect(await !janitor(rules).round())
        #expect(asked.withLock { $0 } == ["events", "keys"])
    }

    @Test func `after a failed round the next one comes soon`() async {
        let rounds = Mutex(0)
        let rules = rules { rows, _, _ in
            rounds.withLock { $0 += rows == "keys" ? 1 : 0 }
            throw Problem(.storeUnavailable, "down")
        }
        let janitor = Janitor(
            rules: rules, interval: .seconds(3_600), retry: 0, now: { LoopSample.now }, logger: LoopSample.logger)
        let running = Task { await janitor.run() }
        while rounds.withLock({ $0 }) < 3 { await Task.yield() }
        running.cancel()
        await running.value
    }
}

@Suite(.timeLimit(.minutes(20)))
struct AppRemoverTests {
    @Test func `an app is removed in steps while something may be left, also after a failed step`() async {
        let steps = Mutex(0)
        let remover = AppRemover(interval: .milliseconds(1), now: { LoopSample.now }, logger: LoopSample.logger) {
            let step = steps.withLock { steps in
                steps += 1
                return steps
            }
            if step == 3 { throw Problem(.storeUnavailable, "down") }
            return step < 5
        }
        let running = Task { await remover.run() }
        while steps.withLock({ $0 }) < 7 { await Task.yield() }
        running.cancel()
        await running.value
    }
}

/// Last uses of keys are written together, and none is lost while the database cannot be reached.
struct KeyUsesTests {
    private final class Ledger: Sendable {
        private struct State {
            var batches: [[UUID: Date]] = []
            var isDown = false
        }

        private let state = Mutex(State())

        var batches: [[UUID: Date]] { state.withLock { $0.batches } }

        func goDown(_ isDown: Bool) { state.withLock { $0.isDown = isDown } }

        func used(_ uses: [UUID: Date]) throws {
            let isDown = state.withLock { state in
                if !state.isDown { state.batches.append(uses) }
                return state.isDown
            }
            if isDown { throw Problem(.storeUnavailable, "gone") }
        }
    }

    private let start = Date(timeIntervalSince1970: 1_800_000_000)

    @Test func `many uses are one batch with the last use of each key, and none is written twice`() async throws {
        let ledger = Ledger()
        let uses = KeyUses(logger: Logger(label: "test"), record: { try ledger.used($0) })
        let (one, other) = (UUID(), UUID())
        for second in 0..<100 { uses.used(one, at: start + Double(second)) }
        uses.used(other, at: start)
        try await uses.write()
        try await uses.write()
        #expect(ledger.batches == [[one: start + 99, other: start]])
    }

    @Test func `uses that could not be written are written with the next batch, unless there are newer ones`()
        async throws
    {
        let ledger = Ledger()
        let uses = KeyUses(logger: Logger(label: "test"), record: { try ledger.used($0) })
        let (one, other) = (UUID(), UUID())
        ledger.goDown(true)
        uses.used(one, at: start)
        uses.used(other, at: start)
        await #expect(throws: Problem.self) { try await uses.write() }
        uses.used(one, at: start + 5)
        ledger.goDown(false)
        try await uses.write()
        #expect(ledger.batches == [[one: start + 5, other: start]])
    }
}

/// When samples are taken, with a clock that the test controls.
struct QuotaSamplerTests {
    private static let noon = Date(timeIntervalSince1970: 1_795_262_400)

    /// Runs a test with one app and two samplers, which stand for two replicas.
    private static func with(_ body: (TestDatabase, Clock, [QuotaSampler]) async throws -> Void) async throws {
        try await withDatabase(.own) { test in
            try await AppStore(test.database).put(.sample())
            let clock = Clock(noon)
            let sampler = QuotaSampler(
                channels: ChannelStore(test.database), history: QuotaHistoryStore(database: test.database),
                settings: .init(tenure: ChannelTenure()), now: clock.read,
                logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
            try await body(test, clock, [sampler, sampler])
        }
    }

    /// The times of the stored samples, in seconds after noon.
    private static func taken(_ test: TestDatabase) async throws -> [TimeInterval] {
        try await test.pool.query(
            "select at from quota_samples where step = 300 and environment = 'production' order by at"
        ).map { try $0.decode(Date.self, "at").timeIntervalSince(noon) }
    }

    @Test func `a sample is taken every five minutes`() async throws {
        try await Self.with { test, now, samplers in
            for seconds in stride(from: 0.0, to: 900, by: 5) {
                now.set(Self.noon.addingTimeInterval(seconds + 1))
                for sampler in samplers { try await sampler.sample() }
            }
            #expect(try await Self.taken(test) == [0, 300, 600])
        }
    }

    @Test func `a failed sample is repeated until its time has passed`() async throws {
        try await Self.with { test, now, samplers in
            try await test.pool.query("alter table quota_samples rename to elsewhere")
            await #expect(throws: (any Error).self) { try await samplers[0].sample() }
            try await test.pool.query("alter table elsewhere rename to quota_samples")
            now.set(Self.noon.addingTimeInterval(5))
            #expect(try await samplers[0].sample() == Self.noon.addingTimeInterval(300))
            // No replica ran at 12:05 and 12:10. At 12:16:01 it is too late for the sample of 12:15.
            now.set(Self.noon.addingTimeInterval(900 + 61))
            #expect(try await samplers[0].sample() == Self.noon.addingTimeInterval(1_200))
            now.set(Self.noon.addingTimeInterval(1_200))
            try await samplers[0].sample()
            #expect(try await Self.taken(test) == [0, 1_200])
        }
    }
}

/// A clock that the test sets.
private final class Clock: Sendable {
    private let date: Mutex<Date>

    init(_ date: Date) { self.date = Mutex(date) }

    func set(_ other: Date) { date.withLock { $0 = other } }
    var read: @Sendable () -> Date { { self.date.withLock(\.self) } }
}

/// The database's gauges. A replica without current values reports none.
struct GaugeWatchTests {
    @Test(.database) func `without a present reading nothing is reported`() async throws {
        let test = try #require(DatabaseTrait.current)
        let clock = Clock(Date(timeIntervalSince1970: 1_800_000_000))
        let watch = GaugeWatch(
            channels: ChannelStore(test.database), store: GaugeStore(database: test.database),
            tenure: ChannelTenure(), now: clock.read, logger: Logger(label: "test"))
        #expect(watch.current == nil)
        for (seconds, isReported) in [(14.0, true), (15, false)] {
            let now = clock.read()
            try await watch.look()
            clock.set(now + seconds)
            #expect((watch.current != nil) == isReported)
        }
        try await watch.look()
        await test.pool.close()
        try? await watch.look()
        #expect(watch.current == nil)
    }
}
