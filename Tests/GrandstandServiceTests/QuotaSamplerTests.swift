internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandStore
internal import GrandstandTestKit
internal import Logging
internal import PortFakes
internal import Postgres
internal import Synchronization
internal import Testing

@testable internal import GrandstandService

/// When samples are taken, with a clock that the test controls.
struct QuotaSamplerTests {
    private static let noon = Date(timeIntervalSince1970: 1_795_262_400)

    /// Runs a test with one app and two samplers, which stand for two replicas.
    private static func with(_ body: (TestDatabase, Clock, [QuotaSampler]) async throws -> Void) async throws {
        try await withDatabase { test in
            try await PostgresAppStore(test.database).put(.sample())
            let quota = Quota(
                bundleID: try .sample(), environment: .production, limit: 100, byState: [.active: 1],
                byStoragePolicy: [:], forecast: Forecast(peak: 1, peakAt: noon, exceedsAt: nil))
            var channels = FakeChannels()
            channels.count = { [quota] }
            let clock = Clock(noon)
            let sampler = QuotaSampler(
                channels: channels, history: PostgresQuotaHistory(test.database),
                settings: .init(tenure: ChannelTenure()), now: clock.read,
                logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
            try await body(test, clock, [sampler, sampler])
        }
    }

    /// The times of the stored samples, in seconds after noon.
    private static func taken(_ test: TestDatabase) async throws -> [TimeInterval] {
        try await test.pool.query("select at from quota_samples where step = 300 order by at").map {
            try $0.decode(Date.self, "at").timeIntervalSince(noon)
        }
    }

    @Test func `a sample is taken every five minutes by one replica`() async throws {
        try await Self.with { test, now, samplers in
            for seconds in stride(from: 0.0, to: 900, by: 5) {
                now.set(Self.noon.addingTimeInterval(seconds + 1))
                for sampler in samplers { try await sampler.sample() }
            }
            #expect(try await Self.taken(test) == [0, 300, 600])
        }
    }

    @Test func `if no replica ran, the sample is missing`() async throws {
        try await Self.with { test, now, samplers in
            #expect(try await samplers[0].sample() == Self.noon.addingTimeInterval(300))
            // No replica ran at 12:05 and 12:10. At 12:16:01 it is too late for the sample of 12:15.
            now.set(Self.noon.addingTimeInterval(900 + 61))
            #expect(try await samplers[0].sample() == Self.noon.addingTimeInterval(1_200))
            now.set(Self.noon.addingTimeInterval(1_200))
            try await samplers[0].sample()
            #expect(try await Self.taken(test) == [0, 1_200])
        }
    }

    @Test func `a failed sample is repeated as long as its time has not passed`() async throws {
        try await Self.with { test, now, samplers in
            try await test.pool.query("alter table quota_samples rename to elsewhere")
            await #expect(throws: (any Error).self) { try await samplers[0].sample() }
            try await test.pool.query("alter table elsewhere rename to quota_samples")
            now.set(Self.noon.addingTimeInterval(5))
            try await samplers[0].sample()
            #expect(try await Self.taken(test) == [0])
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
