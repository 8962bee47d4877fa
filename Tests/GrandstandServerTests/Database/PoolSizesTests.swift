internal import Testing

@testable internal import GrandstandServer

/// How the connections of a process are shared among its pools.
struct PoolSizesTests {
    @Test func `the pools use exactly the allowed number of connections, and with more in total none has fewer`() {
        for total in PoolSizes.minimum...1_000 {
            let (sizes, more) = (PoolSizes(total: total), PoolSizes(total: total + 1))
            #expect(sizes.total == total)
            for pool in PoolSizes.Pool.allCases { #expect(sizes[pool] >= 1 && sizes[pool] <= more[pool]) }
            #expect(sizes[.requests] < 4 || sizes.shared <= sizes[.requests] / 2)
        }
    }
}
