internal import Testing

@testable internal import GrandstandApp

/// How the connections of a process are shared among its pools.
struct PoolSizesTests {
    @Test func `the pools use exactly the allowed number of connections`() {
        for total in PoolSizes.minimum...200 { #expect(PoolSizes(total: total).total == total) }
    }

    @Test func `with more connections in total no pool has fewer`() {
        for total in PoolSizes.minimum..<200 {
            let (few, more) = (PoolSizes(total: total), PoolSizes(total: total + 1))
            for pool in PoolSizes.Pool.allCases where pool != .main { #expect(few[pool] <= more[pool]) }
        }
    }
}
