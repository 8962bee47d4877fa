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

    /// A janitor of events and, kept twice as long, of keys.
    private func janitor(
        _ prune: @escaping @Sendable (_ rows: String, _ before: Date, _ limit: Int) async throws -> Int
    ) -> Janitor {
        Janitor(
            rules: [("events", Self.month), ("keys", 2 * Self.month)].map { rows, keep in
                RetentionRule(rows: rows, keep: keep) { _, _ in Removal("", last: { _ in [] }) }
            }, pause: .zero, prune: { try await prune($0.rows, $1, $2) }, now: { LoopSample.now },
            logger: LoopSample.logger)
    }

    @Test func `a round continues in steps until nothing old is left, rule by rule`() async {
        let state = Mutex((left: 1_200, steps: [Step]()))
        let janitor = janitor { rows, before, limit in
            state.withLock { state in
                state.steps.append(Step(rows: rows, before: before))
                guard rows == "events" else { return 0 }
                let count = min(limit, state.left)
                state.left -= count
                return count
            }
        }
        await janitor.round()
        let (left, steps) = state.withLock { $0 }
        #expect(left == 0)
        #expect(
            steps == Array(repeating: Step(rows: "events", before: LoopSample.now - Self.month), count: 3)
                + [Step(rows: "keys", before: LoopSample.now - 2 * Self.month)])
    }

    @Test func `a failed rule waits for the next round, and the others are applied`() async {
        let asked = Mutex<[String]>([])
        let janitor = janitor { rows, _, _ in
            asked.withLock { $0.append(rows) }
            throw Problem(.storeUnavailable, "down")
        }
        #expect(await !janitor.round())
        #expect(asked.withLock { $0 } == ["events", "keys"])
    }
}

/// When the quotas are sampled, with a clock that the test controls.
struct QuotaSamplerTests {
    private static let noon = Date(timeIntervalSince1970: 1_795_262_400)

    @Test func `two replicas take a sample every five minutes, and a failed one until its time has passed`()
        async throws
    {
        try await withDatabase(.own) { test in
            try await AppStore(test.database).put(.sample())
            let clock = ManualClock(Self.noon)
            let watches = (0..<2).map { _ in
                GaugeWatch(
                    ChannelStore(test.database), tenure: ChannelTenure(), now: { clock.now })
            }
            func look(_ seconds: TimeInterval) async throws {
                clock.advance(by: (Self.noon + seconds).timeIntervalSince(clock.now))
                for watch in watches { try await watch.look() }
            }
            /// The times of the stored samples, in seconds after noon.
            func taken() async throws -> [TimeInterval] {
                try await test.pool.query(
                    "select at from quota_samples where step = 300 and environment = 'production' order by at"
                ).map { try $0.decode(Date.self, "at").timeIntervalSince(Self.noon) }
            }
            for seconds in stride(from: 1.0, to: 600, by: 25) { try await look(seconds) }
            #expect(try await taken() == [0, 300])
            try await test.pool.query("alter table quota_samples rename to elsewhere")
            await #expect(throws: (any Error).self) { try await look(600) }
            try await test.pool.query("alter table elsewhere rename to quota_samples")
            try await look(605)
            // No replica ran at 12:15. At 12:16:01 it is too late for this sample.
            try await look(900 + 61)
            try await look(1_200)
            #expect(try await taken() == [0, 300, 600, 1_200])
        }
    }
}

/// The database's gauges. A replica without current values reports none.
struct GaugeWatchTests {
    @Test(.database) func `without a present reading nothing is reported`() async throws {
        let test = try #require(DatabaseTrait.current)
        let clock = ManualClock(LoopSample.now)
        let watch = GaugeWatch(
            ChannelStore(test.database), tenure: ChannelTenure(), now: { clock.now })
        #expect(watch.current.isEmpty)
        for (seconds, isReported) in [(14.0, true), (15, false)] {
            try await watch.look()
            clock.advance(by: seconds)
            #expect(watch.current.isEmpty != isReported)
        }
        try await watch.look()
        await test.pool.close()
        try? await watch.look()
        #expect(watch.current.isEmpty)
    }
}
