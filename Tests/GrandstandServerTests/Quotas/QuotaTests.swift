internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import GrandstandTestKit
internal import Postgres
internal import Testing

@testable internal import GrandstandServer

struct QuotaTests {
    @Test(arguments: [
        (79, Contract.QuotaLevel.ok), (80, .warning), (94, .warning), (95, .critical), (100, .critical),
    ])
    func `the quota's levels change at 80 and 95 percent of the limit`(used: Int, level: Contract.QuotaLevel) throws {
        let quota = Quota(
            bundleID: try #require(BundleID(rawValue: "com.example")), environment: .production, limit: 100,
            byState: [.active: used - 1, .creating: 1, .deleted: 500], byStoragePolicy: [:],
            forecast: Forecast(spans: [], limit: 100, now: RouteWorld.now))
        #expect(quota.level == level)
        #expect(quota.available == 100 - used)
    }

    @Test func `an app's quotas are counted by environment, state and policy, with the level`() async throws {
        try await withStores { stores in
            _ = try await stores.apps.put(.sample(channelLimit: 5))
            for key in ["a", "b", "gone"] { try await stores.put(.sample(key)) }
            try await stores.put(.sample("c", audiences: [.sample("com.example.Goal", .production, .noMessageStored)]))
            try await stores.provision()
            try await stores.put(.sample("d"))
            try await stores.align()
            try await stores.cancel("b")
            try await stores.align()
            let gone = try await stores.channel(of: "gone")
            try await stores.forceDeletion(of: gone)
            try await stores.cancel("gone")
            try await stores.deleted(gone)

            let quotas = try await stores.quotas()
            #expect(quotas.map(\.environment) == [.development, .production])
            #expect(quotas.map(\.level) == [.ok, .warning])
            #expect(quotas.map(\.used) == [0, 3])
            let quota = try #require(quotas.last)
            #expect((quota.limit, quota.reserved, quota.available) == (5, 1, 1))
            // Deleted channels do not count against the limit.
            #expect(quota.byState == [.active: 2, .retiring: 1, .creating: 1])
            #expect(quota.byStoragePolicy == [.mostRecentMessageStored: 3, .noMessageStored: 1])
        }
    }

    @Test func `the forecast gives an event that starts within the hour the place of one that is over`() async throws {
        try await withStores { stores in
            _ = try await stores.apps.put(.sample(channelLimit: 1))
            try await stores.open("over")
            try await stores.cancel("over")
            try await stores.align()
            for (opens, isTooEarly) in [(600.0, false), (599, true)] {
                let opensAt = stores.now + opens
                try await stores.put(.sample("next", startsAt: stores.now + 3_600, channelsOpenAt: opensAt))
                #expect(try await stores.quota().forecast.exceedsAt == (isTooEarly ? opensAt : nil))
            }
        }
    }
}

/// Samples of quotas in the database.
@Suite(.timeLimit(.minutes(20)))
struct QuotaHistoryTests {
    private static let noon = Date(timeIntervalSince1970: 1_795_262_400)

    private static func at(_ minutes: Double) -> Date { noon.addingTimeInterval(60 * minutes) }

    private static func quota(_ app: String, used: Int, limit: Int = 100) throws -> Quota {
        Quota(
            bundleID: try #require(BundleID(rawValue: app)), environment: .production, limit: limit,
            byState: [.active: used], byStoragePolicy: [:],
            forecast: Forecast(peak: used, peakAt: noon, exceedsAt: nil))
    }

    private static func history(_ step: Int, _ from: Double = -10_000_000, _ to: Double = 10_000_000) -> QuotaHistory {
        QuotaHistory(from: at(from), to: at(to), step: step)
    }

    /// A store with two apps.
    private static func with(_ body: (ChannelStore, StoreWorld) async throws -> Void) async throws {
        try await withStores { stores in
            for app in ["com.example.Stadium", "com.example.Other"] {
                _ = try await stores.apps.put(.sample(app, at: stores.now))
            }
            try await body(stores.channels, stores)
        }
    }

    @Test func `of the samples that replicas take at the same time one stays`() async throws {
        try await Self.with { history, stores in
            let quota = try Self.quota("com.example.Stadium", used: 3)
            _ = try await concurrently(4) { _ in try await history.keepSamples(of: [quota], at: Self.noon) }
            try await history.keepSamples(of: [try Self.quota("com.example.Stadium", used: 4)], at: Self.noon)
            #expect(try await history.samples(Self.history(300)).map(\.used) == [3])
            // If an app was deleted meanwhile, the samples of the other apps are still stored.
            let gone = try Self.quota("com.example.Gone", used: 1)
            try await history.keepSamples(of: [gone, quota], at: Self.at(5))
            #expect(try await history.samples(Self.history(300)).count == 2)
        }
    }

    @Test func `a longer step has the newest numbers, the highest peak and all creations`() async throws {
        try await Self.with { history, stores in
            for (minutes, used) in [(5.0, 3), (10, 9), (15, 4), (20, 1)] where minutes != 15 {
                for number in 0..<Int(minutes / 5) {
                    try await stores.pool.query(
                        """
                        insert into audit_log (at, actor, action, bundle_id, environment) values
                            (\(Self.at(minutes - 1)), 'server', \(number == 0 ? "channel.created" : "channel.deleted")
                                ::text::audit_action, 'com.example.Stadium', 'production')
                        """)
                }
                try await history.keepSamples(
                    of: [try Self.quota("com.example.Stadium", used: used)], at: Self.at(minutes))
            }
            let fine = try await history.samples(Self.history(300))
            #expect(fine.map(\.at) == [5, 10, 20].map(Self.at))
            #expect(fine.map(\.created) == [1, 1, 1] && fine.map(\.deleted) == [0, 1, 3])
            let ten = try await history.samples(Self.history(600))
            #expect(ten.map(\.at) == [10, 20].map(Self.at))
            #expect(ten.map(\.used) == [9, 1] && ten.map(\.peak) == [9, 1] && ten.map(\.created) == [2, 1])
            #expect(try await history.samples(Self.history(300, 5, 10)).map(\.at) == [Self.at(10)])
            // Until the hour is over, the values of the hour and of its day come from the five-minute samples.
            for step in [3_600, 86_400] {
                let open = try await history.samples(Self.history(step))
                #expect(open.map(\.used) == [1] && open.map(\.peak) == [9])
                #expect(open.map(\.created) == [3] && open.map(\.deleted) == [4])
            }
            // A sample taken on the hour is also stored as the sample of the hour. It counts all creations and
            // deletions of the hour, also those for which a five-minute sample is missing.
            try await history.keepSamples(of: [try Self.quota("com.example.Stadium", used: 2)], at: Self.at(60))
            let hour = try #require(try await history.samples(Self.history(3_600)).first)
            #expect(hour.used == 2 && hour.peak == 9 && hour.created == 3 && hour.deleted == 4)
        }
    }

    @Test func `five-minute samples are kept for two days, those of an hour for 400`() async throws {
        try await Self.with { history, stores in
            let quota = try Self.quota("com.example.Stadium", used: 1)
            try await history.keepSamples(of: [quota], at: Self.noon)
            let days = { (count: Double) in Self.noon.addingTimeInterval(86_400 * count) }
            try await history.keepSamples(of: [quota], at: days(2).addingTimeInterval(-300))
            #expect(try await history.samples(Self.history(300)).count == 2)
            try await history.keepSamples(of: [quota], at: days(2))
            #expect(try await history.samples(Self.history(300)).map(\.at).first == days(2).addingTimeInterval(-300))
            #expect(try await history.samples(Self.history(3_600)).map(\.at) == [Self.noon, days(2)])
            try await history.keepSamples(of: [quota], at: days(400))
            #expect(try await history.samples(Self.history(3_600)).map(\.at) == [days(2), days(400)])
        }
    }
}
