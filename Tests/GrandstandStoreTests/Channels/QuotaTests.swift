internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandTestKit
internal import Testing

@testable internal import GrandstandStore

struct QuotaTests {
    @Test func `an app's quotas are counted by environment, state and policy, with the level`() async throws {
        try await withStores { stores in
            _ = try await stores.apps.put(.sample(channelLimit: 5))
            for key in ["a", "b", "gone"] { try await stores.put(.sample(key)) }
            try await stores.put(.sample("c", audiences: [.sample("com.example.Goal", .production, .noMessageStored)]))
            try await stores.provision()
            try await stores.put(.sample("d"))
            try await stores.align()
            try await stores.events.cancel(.sample("b"), now: stores.now)
            try await stores.align()
            let gone = try await stores.channel(of: "gone")
            try await stores.forceDeletion(of: gone)
            try await stores.events.cancel(.sample("gone"), now: stores.now)
            try await stores.deleted(gone)

            let quotas = try await stores.channels.quotas(now: stores.now, tenure: Stores.tenure)
            #expect(quotas.map(\.environment) == [.development, .production])
            #expect(quotas.map(\.level) == [.ok, .warning])
            #expect(quotas.map(\.used) == [0, 3])
            let quota = try #require(quotas.last)
            #expect(quota.limit == 5)
            #expect(quota.reserved == 1)
            #expect(quota.available == 1)
            // Deleted channels do not count against the limit.
            #expect(quota.byState == [.active: 2, .retiring: 1, .creating: 1])
            #expect(quota.byStoragePolicy == [.mostRecentMessageStored: 3, .noMessageStored: 1])
        }
    }

    @Test func `the forecast follows the events' openings and ends, and how long channels are kept`()
        async throws
    {
        try await withStores { stores in
            _ = try await stores.apps.put(.sample(channelLimit: 2))
            let start = stores.now
            func at(_ hours: Double) -> Date { start.addingTimeInterval(hours * 3_600) }
            // A channel is kept for 8 hours after the end, because APNs stores the end. So `a` has a channel from 0 to
            // 1 + 8 h, `b` from 10 to 12 + 8 h, `c` from 11 to 13 + 8 h, and `d` from 15 h on.
            try await stores.put(.sample("a", endsAt: at(1)))
            try await stores.put(.sample("b", endsAt: at(12), channelsOpenAt: at(10)))
            try await stores.put(.sample("c", endsAt: at(13), channelsOpenAt: at(11)))
            try await stores.put(.sample("d", channelsOpenAt: at(15)))
            try await stores.put(.sample("cancelled", channelsOpenAt: at(15)))
            try await stores.events.cancel(.sample("cancelled"), now: start)
            let quotas = try await stores.channels.quotas(now: start, tenure: Stores.tenure)
            let production = try #require(quotas.first { $0.environment == .production })
            #expect(production.forecast.peak == 3)
            #expect(production.forecast.peakAt == at(15))
            #expect(production.forecast.exceedsAt == at(15))
            let development = try #require(quotas.first { $0.environment == .development })
            #expect(development.forecast.peak == 0)
            #expect(development.forecast.exceedsAt == nil)
        }
    }
}
