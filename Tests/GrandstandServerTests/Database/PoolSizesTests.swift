internal import Testing

@testable internal import GrandstandServer

/// How the connections of a process are shared among its pools.
struct PoolSizesTests {
    @Test func `the pools use exactly the allowed number of connections`() {
        #expect(PoolSizes.minimum == 8)
        for total in PoolSizes.minimum...200 { #expect(PoolSizes(total: total).total == total) }
    }

    @Test func `with few connections pools are shared, but phones, organisers and sends never share one`() {
        for total in PoolSizes.minimum..<20 {
            let sizes = PoolSizes(total: total)
            let homes = Set(PoolSizes.Pool.allCases.map { sizes.home(of: $0) })
            #expect(homes == [.main, .lookup, .bulk, .dispatch, .probe])
            #expect(sizes.home(of: .device) == .lookup && sizes.home(of: .start) == .dispatch)
            #expect(sizes.home(of: .outbox) == .main && sizes.home(of: .report) == .main)
        }
        let separate = PoolSizes(total: 20)
        #expect(PoolSizes.Pool.allCases.allSatisfy { separate.home(of: $0) == $0 })
    }

    @Test func `with more connections in total no pool has fewer`() {
        // At 20 a pool's connections are its own, and may be fewer than those that it shared.
        for total in 8..<200 where total != 19 {
            let (few, more) = (PoolSizes(total: total), PoolSizes(total: total + 1))
            for pool in PoolSizes.Pool.allCases where pool != .main { #expect(few[pool] <= more[pool]) }
        }
    }
}
