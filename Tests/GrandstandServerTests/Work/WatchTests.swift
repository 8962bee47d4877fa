internal import Foundation
internal import Grandstand
internal import GrandstandTestKit
internal import Postgres
internal import Testing

@testable internal import GrandstandServer

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
                GaugeWatch(ChannelStore(test.database), tenure: ChannelTenure(), now: { clock.now })
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
        let watch = GaugeWatch(
            ChannelStore(test.database), tenure: ChannelTenure(), now: { LoopSample.now })
        #expect(watch.current.isEmpty)
        try await watch.look()
        #expect(!watch.current.isEmpty)
        await test.pool.close()
        try? await watch.look()
        #expect(watch.current.isEmpty)
    }
}
