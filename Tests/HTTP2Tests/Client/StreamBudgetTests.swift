import Testing

@testable import HTTP2

struct StreamBudgetTests {
    @Test func `nothing starts before SETTINGS`() {
        let budget = StreamBudget(cap: 1_000, initial: 1)
        #expect(!budget.admits(body: 0, inUse: 0, window: 65_535))
    }

    @Test func `the lowest of the three limits counts`() {
        var budget = StreamBudget(cap: 1_000, initial: 1)
        budget.peerLimit = Int(UInt32.max)
        #expect(budget.limit == 1)
        budget.isProven = true
        #expect(budget.limit == 1_000)
        budget.peerLimit = 500
        #expect(budget.limit == 500)
        budget.peerLimit = 1
        #expect(budget.limit == 1)
    }

    @Test func `a body waits for room in the connection window`() {
        var budget = StreamBudget(cap: 1_000, initial: .max)
        budget.peerLimit = 1_000
        #expect(budget.admits(body: 600, inUse: 0, window: 600))
        budget.unsent = 600
        #expect(!budget.admits(body: 600, inUse: 0, window: 1_199))
        #expect(budget.admits(body: 600, inUse: 0, window: 1_200))
        #expect(budget.admits(body: 0, inUse: 0, window: 0), "a request without a body needs no window")
    }

    @Test func `a body larger than the window is sent alone`() {
        var budget = StreamBudget(cap: 1_000, initial: .max)
        budget.peerLimit = 1_000
        #expect(budget.admits(body: 100_000, inUse: 0, window: 65_535))
        #expect(!budget.admits(body: 100_000, inUse: 0, window: 0))
        budget.unsent = 1
        #expect(!budget.admits(body: 100_000, inUse: 0, window: 65_535))
    }
}
