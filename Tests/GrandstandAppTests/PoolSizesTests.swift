internal import Testing

@testable internal import GrandstandApp

/// The connections of a process, shared among its pools.
struct PoolSizesTests {
    @Test func `all that are allowed are used and no more, whatever their number`() {
        for total in PoolSizes.minimum...200 { #expect(PoolSizes(total: total).total == total) }
    }

    @Test func `more in all is never less for one`() {
        for total in PoolSizes.minimum..<200 {
            let (few, more) = (PoolSizes(total: total), PoolSizes(total: total + 1))
            for pool in PoolSizes.Pool.allCases where pool != .main { #expect(few[pool] <= more[pool]) }
        }
    }

    @Test func `the standard is 44, and 20 suffice`() {
        #expect(PoolSizes.standard == 44)
        #expect(PoolSizes.minimum == 20)
        #expect(PoolSizes()[.outbox] == 5)
    }
}
