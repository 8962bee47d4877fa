internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import Testing

@testable internal import GrandstandServer

struct QuotaLevelTests {
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
}
