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
}

/// When samples are taken, with a clock that the test controls.
struct QuotaSamplerTests {
    private static let noon = Date(timeIntervalSince1970: 1_795_262_400)

    /// Runs a test with one app.
    private static func with(
        _ body: (TestDatabase, _ sample: @escaping @Sendable (TimeInterval) async throws -> Date) async throws -> Void
    ) async throws {
        try await withDatabase(.own) { test in
            try await AppStore(test.database).put(.sample())
            let channels = ChannelStore(test.database)
            try await body(test) { seconds in
                try await channels.sample(tenure: ChannelTenure(), now: noon + seconds)
            }
        }
    }

    /// The times of the stored samples, in seconds after noon.
    private static func taken(_ test: TestDatabase) async throws -> [TimeInterval] {
        try await test.pool.query(
            "select at from quota_samples where step = 300 and environment = 'production' order by at"
        ).map { try $0.decode(Date.self, "at").timeIntervalSince(noon) }
    }

    @Test func `a sample is taken every five minutes, by the first of two replicas`() async throws {
        try await Self.with { test, sample in
            for seconds in stride(from: 0.0, to: 900, by: 5) {
                for _ in 0..<2 { _ = try await sample(seconds + 1) }
            }
            #expect(try await Self.taken(test) == [0, 300, 600])
        }
    }

    @Test func `a failed sample is repeated until its time has passed`() async throws {
        try await Self.with { test, sample in
            try await test.pool.query("alter table quota_samples rename to elsewhere")
            await #expect(throws: (any Error).self) { try await sample(0) }
            try await test.pool.query("alter table elsewhere rename to quota_samples")
            #expect(try await sample(5) == Self.noon + 300)
            // No replica ran at 12:05 and 12:10. At 12:16:01 it is too late for the sample of 12:15.
            #expect(try await sample(900 + 61) == Self.noon + 1_200)
            _ = try await sample(1_200)
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
            test.database, channels: ChannelStore(test.database), tenure: ChannelTenure(), now: clock.read)
        #expect(watch.current.isEmpty)
        for (seconds, isReported) in [(14.0, true), (15, false)] {
            let now = clock.read()
            try await watch.look()
            clock.set(now + seconds)
            #expect(watch.current.isEmpty != isReported)
        }
        try await watch.look()
        await test.pool.close()
        try? await watch.look()
        #expect(watch.current.isEmpty)
    }
}
